"""Contradictions in one FSx for Lustre file system of a stack file.

Source: the pages of `trainyard.components.config.lustre_rules`, and
https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-backups-fsx.html (no backups with S3).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.config.contradictions import (
    Contradiction,
    backup_time_faults,
    fault,
    place_faults,
    raise_all,
)
from trainyard.components.config.fsx_lustre import NewFsxLustre
from trainyard.components.config.lustre_rules import (
    METADATA_IOPS_MAXIMUM,
    METADATA_IOPS_STEP,
    SMALL_METADATA_IOPS,
    THROUGHPUTS,
    capacity_rule,
    is_persistent,
    metadata_iops_allowed,
)
from trainyard.components.config.storage_fields import s3_parts

MOST_DATA_REPOSITORIES = 8


def without_contradictions(wanted: NewFsxLustre) -> NewFsxLustre:
    """Return a file system that AWS would accept.

    Raises:
        PydanticCustomError: AWS would refuse some of its settings.
    """
    raise_all(
        [
            *_type(wanted),
            *_throughput(wanted),
            *_capacity(wanted),
            *_efa(wanted),
            *_metadata(wanted),
            *_s3(wanted),
            *_data_repositories(wanted),
            *_backups(wanted),
            *place_faults(subnet_id=wanted.subnet_id, availability_zone=wanted.availability_zone),
        ]
    )
    return wanted


def _type(wanted: NewFsxLustre) -> Iterator[Contradiction]:
    if wanted.storage_type == "HDD" and wanted.deployment_type != "PERSISTENT_1":
        yield fault(
            "storage_type",
            f"is HDD with {wanted.deployment_type}",
            why="FSx supports HDD storage for PERSISTENT_1 only",
            allowed="SSD, or deployment_type: PERSISTENT_1",
            remedy="remove storage_type",
        )
    if wanted.drive_cache is not None and wanted.storage_type != "HDD":
        yield fault(
            "drive_cache",
            "is given for SSD storage",
            why="the drive cache is an SSD cache for HDD storage",
            allowed="no drive_cache, or storage_type: HDD",
            remedy="remove drive_cache",
        )
    if wanted.kms_key_arn is not None and not is_persistent(wanted.deployment_type):
        yield fault(
            "kms_key_arn",
            f"is given for {wanted.deployment_type}",
            why="FSx encrypts scratch file systems with its own key",
            allowed="no kms_key_arn, or a persistent deployment type",
            remedy="remove kms_key_arn",
        )


def _throughput(wanted: NewFsxLustre) -> Iterator[Contradiction]:
    given = wanted.per_unit_storage_throughput
    if not is_persistent(wanted.deployment_type):
        if given is not None:
            yield fault(
                "per_unit_storage_throughput",
                f"is given for {wanted.deployment_type}",
                why="scratch file systems have a fixed throughput of 200 MB/s/TiB",
                allowed="no per_unit_storage_throughput, or a persistent deployment type",
                remedy="remove per_unit_storage_throughput",
            )
        return
    allowed = THROUGHPUTS.get((wanted.deployment_type, wanted.storage_type))
    # HDD with PERSISTENT_2 is a separate problem that no throughput can fix.
    if allowed is None or given in allowed:
        return
    kind = f"{wanted.deployment_type} on {wanted.storage_type}"
    yield fault(
        "per_unit_storage_throughput",
        f"is missing for {kind}" if given is None else f"is {given}, which {kind} does not support",
        why="persistent file systems have a fixed set of throughputs, in MB/s/TiB",
        allowed=", ".join(map(str, allowed)),
        remedy=f"set per_unit_storage_throughput: {_nearest(given, allowed)}",
    )


def _nearest(given: int | None, allowed: tuple[int, ...]) -> int:
    return min(allowed, key=lambda value: (abs(value - (given or 0)), value))


def _capacity(wanted: NewFsxLustre) -> Iterator[Contradiction]:
    rule = capacity_rule(
        wanted.deployment_type,
        wanted.storage_type,
        wanted.per_unit_storage_throughput,
        efa=wanted.efa_enabled,
    )
    if rule is None or rule.allows(wanted.storage_capacity_gib):
        return
    with_efa = " with EFA" if wanted.efa_enabled else ""
    yield fault(
        "storage_capacity_gib",
        f"is {wanted.storage_capacity_gib}",
        why=(
            f"{wanted.deployment_type} on {wanted.storage_type}{with_efa} scales by whole file "
            "servers"
        ),
        allowed=str(rule),
        remedy=f"set storage_capacity_gib: {rule.nearest(wanted.storage_capacity_gib)}",
    )


def _efa(wanted: NewFsxLustre) -> Iterator[Contradiction]:
    if wanted.efa_enabled and (wanted.deployment_type, wanted.storage_type) != (
        "PERSISTENT_2",
        "SSD",
    ):
        yield fault(
            "efa_enabled",
            f"is on for {wanted.deployment_type} on {wanted.storage_type}",
            why="only PERSISTENT_2 file systems on SSD support EFA",
            allowed="false, or deployment_type: PERSISTENT_2 and storage_type: SSD",
            remedy="remove efa_enabled",
        )


def _metadata(wanted: NewFsxLustre) -> Iterator[Contradiction]:
    iops = wanted.metadata_iops
    if iops is None:
        return
    if wanted.deployment_type != "PERSISTENT_2":
        yield fault(
            "metadata_iops",
            f"is given for {wanted.deployment_type}",
            why="only PERSISTENT_2 file systems have provisioned metadata IOPS",
            allowed="no metadata_iops, or deployment_type: PERSISTENT_2",
            remedy="remove metadata_iops",
        )
    elif not metadata_iops_allowed(iops):
        small = ", ".join(map(str, SMALL_METADATA_IOPS))
        yield fault(
            "metadata_iops",
            f"is {iops}",
            why="FSx provisions metadata IOPS in steps",
            allowed=(f"{small} or multiples of {METADATA_IOPS_STEP} up to {METADATA_IOPS_MAXIMUM}"),
            remedy="change it to an allowed value, or remove it so that it grows with the capacity",
        )


def _s3(wanted: NewFsxLustre) -> Iterator[Contradiction]:
    for key in ("export_path", "auto_import"):
        if getattr(wanted, key) is not None and wanted.import_path is None:
            yield fault(
                key,
                "is given without import_path",
                why="it applies to the S3 prefix of import_path",
                allowed=f"no {key}, or {key} with import_path",
                remedy=f"add import_path, or remove {key}",
            )
    if wanted.import_path is None:
        return
    if wanted.deployment_type == "PERSISTENT_2":
        yield fault(
            "import_path",
            "is given for PERSISTENT_2",
            why="PERSISTENT_2 is linked to S3 through data repository associations",
            allowed="data_repositories, or another deployment type",
            remedy=(
                f'set data_repositories: [{{file_system_path: /, s3_path: "{wanted.import_path}"}}]'
            ),
        )
    if wanted.data_repositories:
        yield fault(
            "data_repositories",
            "is given together with import_path",
            why="a file system is linked to S3 in only one of these ways",
            allowed="one of data_repositories and import_path",
            remedy="remove import_path, export_path and auto_import",
        )
    if wanted.export_path is not None and _bucket(wanted.export_path) != _bucket(
        wanted.import_path
    ):
        yield fault(
            "export_path",
            "is in another bucket than import_path",
            why="FSx exports to the bucket that it imports from",
            allowed=f"a prefix of s3://{_bucket(wanted.import_path)}",
            remedy="change the bucket of one of them",
        )


def _bucket(path: str) -> str:
    bucket, _ = s3_parts(path) or (path, "")
    return bucket


def _data_repositories(wanted: NewFsxLustre) -> Iterator[Contradiction]:
    linked = wanted.data_repositories
    if linked and wanted.deployment_type == "SCRATCH_1":
        yield fault(
            "data_repositories",
            "is given for SCRATCH_1",
            why="SCRATCH_1 is linked to S3 through import_path only",
            allowed="import_path, or another deployment type",
            remedy="change deployment_type to SCRATCH_2",
        )
    if len(linked) > MOST_DATA_REPOSITORIES:
        yield fault(
            "data_repositories",
            f"has {len(linked)} entries",
            why="FSx links at most 8 directories of a file system to S3",
            allowed=f"at most {MOST_DATA_REPOSITORIES}",
            remedy="remove entries",
        )
    paths = [f"{each.file_system_path.rstrip('/')}/" for each in linked]
    for index, path in enumerate(paths):
        outer = next((other for other in paths[:index] if _overlap(path, other)), None)
        if outer is not None:
            yield fault(
                f"data_repositories[{index}].file_system_path",
                f"overlaps with {outer}",
                why="one directory is linked to one S3 prefix",
                allowed="directories that do not contain one another",
                remedy="change one of the two directories",
            )


def _overlap(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _backups(wanted: NewFsxLustre) -> Iterator[Contradiction]:
    yield from backup_time_faults(
        backup_time=wanted.backup_time, retention_days=wanted.backup_retention_days
    )
    if not wanted.backup_retention_days:
        return
    linked = wanted.import_path is not None or wanted.data_repositories
    if not is_persistent(wanted.deployment_type) or linked:
        yield fault(
            "backup_retention_days",
            "enables backups of a "
            + ("file system that is linked to S3" if linked else "scratch file system"),
            why="FSx backs up persistent file systems that are not linked to S3",
            allowed="0",
            remedy="remove backup_retention_days",
        )
