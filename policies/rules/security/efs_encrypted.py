"""EFS file systems are encrypted at rest.

Why:
    Home directories hold keys, code and results. EFS does not encrypt by default, and you cannot
    enable encryption on an existing file system. FSx, ECR, S3, CloudWatch Logs and EKS secrets are
    always encrypted; `ebs-encrypted` covers EBS.
Fix:
    Set `encrypted` to true on the file system.
Source:
    https://docs.aws.amazon.com/efs/latest/ug/encryption-at-rest.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.props import UNKNOWN, Facts, is_true
from trainyard.policies.resources.types import EFS_FILE_SYSTEM
from trainyard.policies.rule import Config, resource_rule


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    encrypted = facts.needed("encrypted")
    if encrypted is not UNKNOWN and not is_true(encrypted):
        yield (
            "it is not encrypted at rest, and you cannot enable that later; set encrypted to true"
        )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["storage", "baseline"],
    types=(EFS_FILE_SYSTEM,),
    check=_check,
)
