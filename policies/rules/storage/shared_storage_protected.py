"""File systems are protected from deletion and replacement.

Why:
    A changed subnet or deployment type replaces a file system, and what is in it is gone before
    anybody has read the preview. `protect` makes the engine refuse that.
Fix:
    Set the resource option `protect` (in a stack file of ours `deletion_protection: true`); take it
    away, and run `up`, only when the data may go.
Source:
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/delete-file-system.html
    https://www.pulumi.com/docs/iac/concepts/resources/options/protect/
"""

from __future__ import annotations

from pulumi_policy import (
    EnforcementLevel,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
)

from policies.resources.types import EFS_FILE_SYSTEM, LUSTRE_FILE_SYSTEM, OPENZFS_FILE_SYSTEM

FILE_SYSTEMS = frozenset({EFS_FILE_SYSTEM, LUSTRE_FILE_SYSTEM, OPENZFS_FILE_SYSTEM})


def _validate(args: ResourceValidationArgs, report_violation: ReportViolation) -> None:
    if args.resource_type in FILE_SYSTEMS and not args.opts.protect:
        report_violation(
            f"{args.name}: the file system is not protected: a destroy, or a change that replaces "
            "it, loses what is in it; set the resource option protect",
            None,
        )


POLICY = ResourceValidationPolicy(
    name="shared-storage-protected",
    display_name="File systems are protected",
    description="FSx and EFS file systems have the resource option protect.",
    # Whoever wants to remove a file system has to take the protection away first.
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["storage", "F11"],
    remediation_steps="Set the resource option protect.",
    url="https://docs.aws.amazon.com/fsx/latest/LustreGuide/delete-file-system.html",
    validate=_validate,
)
