"""EFS file systems are encrypted at rest.

Why:
    A home directory holds keys, code and results. EFS encrypts only what is told to, and a file
    system cannot be encrypted later. FSx, ECR, S3, CloudWatch Logs and the secrets of EKS are
    always encrypted, with a key of AWS's if with no other; EBS has a rule of its own.
Fix:
    Set `encrypted` on the file system.
Source:
    https://docs.aws.amazon.com/efs/latest/ug/encryption-at-rest.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.props import UNKNOWN, Facts, is_true
from policies.resources.types import EFS_FILE_SYSTEM
from policies.rule import Config, on_types


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    encrypted = facts.needed("encrypted")
    if encrypted is not UNKNOWN and not is_true(encrypted):
        yield (
            "it is not encrypted at rest, and cannot be later without making it anew; set "
            "encrypted to true"
        )


POLICY = ResourceValidationPolicy(
    name="efs-encrypted",
    display_name="EFS file systems are encrypted",
    description="EFS file systems are encrypted at rest.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["security", "storage", "baseline"],
    remediation_steps="Set encrypted to true.",
    url="https://docs.aws.amazon.com/efs/latest/ug/encryption-at-rest.html",
    validate=on_types(EFS_FILE_SYSTEM, check=_check),
)
