"""Lustre file systems are encrypted with a key of the customer, where the team wants that.

Why:
    FSx encrypts every file system, by default with the AWS managed key of the account, whose
    policy nobody can change: access cannot be withdrawn from one team, nor the key shared with
    another account. Some teams must use keys of their own; the rule says nothing until
    `customer_keys` of its configuration is true. Scratch file systems take no key.
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
    ResourceValidationPolicy,
    Severity,
)

from components.config.lustre_rules import is_persistent
from policies.resources.lustre import LUSTRE_MAKERS, lustre_systems
from policies.resources.props import Facts, is_set
from policies.rule import Config, on_types


def _check(type_: str, facts: Facts, config: Config) -> Iterator[str]:
    if not config.get("customer_keys"):
        return
    for system in lustre_systems(type_, facts):
        if is_persistent(system.deployment_type) and not is_set(system.key):
            yield (
                f"{system.where}it is encrypted with the AWS managed key of FSx; set kms_key_id to "
                "a key of your own"
            )


POLICY = ResourceValidationPolicy(
    name="lustre-customer-key",
    display_name="Lustre file systems have a key of the customer",
    description="Where the team wants it, persistent Lustre file systems have their own KMS key.",
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.LOW,
    tags=["storage", "F12"],
    config_schema=PolicyConfigSchema(
        {
            "customer_keys": {
                "type": "boolean",
                "description": "Whether file systems must have a KMS key of the customer.",
            }
        }
    ),
    remediation_steps="Set the KMS key of the file system.",
    url="https://docs.aws.amazon.com/fsx/latest/LustreGuide/encryption-at-rest.html",
    validate=on_types(*LUSTRE_MAKERS, check=_check),
)
