"""Persistent Lustre file systems have a customer managed KMS key, if the configuration requires it.

Why:
    FSx encrypts every file system, by default with the AWS managed key of the account. You cannot
    change the policy of that key: you cannot withdraw access from one team or share the key with
    another account. The rule applies only if `customer_keys` of its configuration is true. Scratch
    file systems do not support a key.
Fix:
    Set the KMS key of the file system (in a stack file: `kms_key_arn`).
Source:
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/encryption-at-rest.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    Severity,
)

from trainyard.components.config.fsx_lustre import is_persistent
from trainyard.policies.resources.lustre import LUSTRE_MAKERS, lustre_systems
from trainyard.policies.resources.props import Facts, is_set
from trainyard.policies.rule import Config, resource_rule


def _check(type_: str, facts: Facts, config: Config) -> Iterator[str]:
    if not config.get("customer_keys"):
        return
    for system in lustre_systems(type_, facts):
        if is_persistent(system.deployment_type) and not is_set(system.key):
            yield (
                f"{system.where}it is encrypted with the AWS managed key of FSx; set kms_key_id to "
                "a key of your own"
            )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.LOW,
    tags=["F12"],
    config_schema=PolicyConfigSchema(
        {
            "customer_keys": {
                "type": "boolean",
                "description": "Whether file systems must have a KMS key of the customer.",
            }
        }
    ),
    types=LUSTRE_MAKERS,
    check=_check,
)
