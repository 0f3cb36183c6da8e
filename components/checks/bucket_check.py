"""Account checks of the S3 buckets and objects that a stack file names.

Sources:
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/autoimport-data-repo-dra.html: automatic
    import needs a bucket in the region of the file system; export does not
    https://docs.aws.amazon.com/parallelcluster/latest/ug/custom-bootstrap-actions-v3.html: a node
    whose script cannot be downloaded fails to start
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.named_facts import BucketFacts, ObjectFacts
from trainyard.components.checks.noun import NamedContext
from trainyard.components.config.fsx_lustre import DataRepository, NewFsxLustre
from trainyard.components.config.named import Named
from trainyard.components.config.problems import ROOT, Problem


def repository_problems(
    use: Named, found: BucketFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield why FSx would not link a file system to the bucket."""
    path = f"{ROOT}.{use.key}"
    if found is None and not context.may_exist(use):
        yield Problem(
            path=path,
            found=use.name,
            problem="this S3 bucket does not exist, and FSx links file systems to existing ones",
            remedy="correct the name, or create the bucket (`aws s3 mb`)",
        )
    elif found is not None and _imports(use) and found.region not in ("", context.region):
        yield Problem(
            path=path,
            found=f"{use.name}, in {found.region}",
            problem="FSx imports changes only from buckets in the region of the file system",
            allowed=f"a bucket in {context.region}",
            remedy="give such a bucket, or import no changes (`import_events: []`, no auto_import)",
        )


def repository_warnings(
    use: Named, found: BucketFacts | None, context: NamedContext
) -> Iterator[str]:
    """Yield that the bucket of an existing file system is gone."""
    if found is None and context.may_exist(use):
        yield f"{use.key}: the bucket of {use.name} does not exist; new file systems need it"


def _imports(use: Named) -> bool:
    owner = use.owner
    if isinstance(owner, DataRepository):
        return bool(owner.import_events)
    return (
        isinstance(owner, NewFsxLustre)
        and use.key.endswith(".import_path")
        and owner.auto_import not in (None, "NONE")
    )


def bucket_warnings(use: Named, found: BucketFacts | None, context: NamedContext) -> Iterator[str]:
    """Yield that nodes get permissions for a bucket that does not exist."""
    if found is None:
        yield (
            f"{use.key}: the S3 bucket {use.name} does not exist; create it (`aws s3 mb`), or "
            "correct the name"
        )


def script_problems(
    use: Named, found: ObjectFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield why nodes would not start: their script does not exist or is empty."""
    missing = _missing_script(use, found)
    if missing and not context.may_exist(use):
        yield Problem(
            path=f"{ROOT}.{use.key}",
            found=use.name,
            problem=f"{missing}; nodes that cannot run their script do not start",
            remedy=f"upload it (`aws s3 cp SCRIPT {use.name}`), or correct the address",
        )


def script_warnings(use: Named, found: ObjectFacts | None, context: NamedContext) -> Iterator[str]:
    """Yield that further nodes of an existing cluster would not start."""
    missing = _missing_script(use, found)
    if missing and context.may_exist(use):
        yield f"{use.key}: {use.name}: {missing}; further nodes do not start"


def _missing_script(use: Named, found: ObjectFacts | None) -> str:
    if found is None:
        return "this bucket has no such object, or it does not exist"
    return "" if found.size_bytes else "this object is empty"
