"""FSx and EFS file systems have the resource option protect.

Why:
    A changed subnet or deployment type replaces a file system and deletes its data. With `protect`
    the engine rejects the replacement and the deletion.
Fix:
    Set the resource option `protect` (in a stack file: `deletion_protection: true`). To delete the
    data on purpose, remove the option and run `up` first.
Source:
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/delete-file-system.html
    https://www.pulumi.com/docs/iac/concepts/resources/options/protect/
"""

from __future__ import annotations

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.types import (
    EFS_FILE_SYSTEM,
    LUSTRE_FILE_SYSTEM,
    OPENZFS_FILE_SYSTEM,
)
from trainyard.policies.rule import protection_rule

POLICY = protection_rule(
    __name__,
    __doc__,
    # Advisory: to remove a file system, users first remove the protection.
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["F11"],
    types=(EFS_FILE_SYSTEM, LUSTRE_FILE_SYSTEM, OPENZFS_FILE_SYSTEM),
    fault=(
        "the file system is not protected: a destroy, or a change that replaces it, deletes its "
        "data"
    ),
)
