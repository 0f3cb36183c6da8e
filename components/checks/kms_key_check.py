"""Account checks of the KMS keys that a stack file names.

Sources:
    https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html: states in which a key
    encrypts
    https://docs.aws.amazon.com/eks/latest/APIReference/API_Provider.html, `keyArn`,
    https://docs.aws.amazon.com/efs/latest/ug/API_CreateFileSystem.html, `KmsKeyId`, and
    https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption-requirements.html: only
    symmetric encryption keys
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.named_facts import KmsKeyFacts
from trainyard.components.checks.noun import NamedContext
from trainyard.components.config.named import Named
from trainyard.components.config.problems import ROOT, Problem

USABLE = frozenset({"Enabled", "Updating"})
_REMEDIES = {
    "Disabled": "enable it (`aws kms enable-key --key-id {arn}`), or give another key",
    "PendingDeletion": (
        "cancel the deletion (`aws kms cancel-key-deletion --key-id {arn}`) and enable it, or give "
        "another key"
    ),
    "PendingImport": "import its key material (`aws kms import-key-material`), or give another key",
    "Unavailable": "connect its custom key store, or give another key",
    "Creating": "wait until it is enabled",
}


def kms_key_problems(
    use: Named, found: KmsKeyFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield why the key encrypts nothing; nothing if what it encrypts may exist."""
    if not context.may_exist(use):
        yield from _problems(use, found)


def kms_key_warnings(use: Named, found: KmsKeyFacts | None, context: NamedContext) -> Iterator[str]:
    """Yield why existing data may be unreadable, or new data not be encrypted."""
    if context.may_exist(use):
        for problem in _problems(use, found):
            yield f"{use.key}: {use.name}: {problem.problem}; {problem.remedy}"


def _problems(use: Named, found: KmsKeyFacts | None) -> Iterator[Problem]:
    path = f"{ROOT}.{use.key}"
    if found is None:
        yield Problem(
            path=path,
            found=use.name,
            problem="this KMS key does not exist, so nothing can be encrypted with it",
            remedy="copy the ARN of a key (`aws kms list-keys`), or correct aws:region",
        )
        return
    if found.usage != "ENCRYPT_DECRYPT" or found.spec != "SYMMETRIC_DEFAULT":
        yield Problem(
            path=path,
            found=f"{use.name}, {found.usage}, {found.spec}",
            problem="AWS encrypts data at rest only with symmetric encryption keys",
            allowed="a key with usage ENCRYPT_DECRYPT and spec SYMMETRIC_DEFAULT",
            remedy="give such a key (`aws kms create-key` creates one)",
        )
    if found.state not in USABLE:
        remedy = _REMEDIES.get(found.state, "give another key")
        yield Problem(
            path=path,
            found=f"{use.name}, {found.state}",
            problem=f"a KMS key in the state {found.state} encrypts nothing",
            allowed="a key in the state Enabled",
            remedy=remedy.format(arn=use.name),
        )
