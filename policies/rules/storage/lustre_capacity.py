"""Lustre file systems have a capacity that FSx sells.

Why:
    FSx sells file systems in whole servers: 1200 GiB, and then steps that depend on deployment
    type, disks, throughput and EFA. Another number is refused when the file system is made, often
    after the cluster has been waited for.
Fix:
    Set the storage capacity to a multiple of the step (in a stack file: `storage_capacity_gib`).
Source:
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/getting-started.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from components.config.lustre_rules import capacity_rule
from policies.resources.lustre import LUSTRE_MAKERS, lustre_systems
from policies.resources.props import UNKNOWN, Facts
from policies.rule import Config, on_types


def _check(type_: str, facts: Facts, _config: Config) -> Iterator[str]:
    for system in lustre_systems(type_, facts):
        if system.capacity is UNKNOWN or system.throughput is UNKNOWN:
            continue
        rule = capacity_rule(
            system.deployment_type, system.storage_type, system.throughput, efa=system.efa
        )
        # Without a rule the throughput is wrong, which is a fault of its own.
        if rule is None or (system.capacity is not None and rule.allows(system.capacity)):
            continue
        kind = f"{system.deployment_type} on {system.storage_type}{' with EFA' * system.efa}"
        yield (
            f"{system.where}its capacity is {_said(system.capacity)}, but {kind} comes in {rule}; "
            f"set the storage capacity to {rule.nearest(system.capacity or 0)}"
        )


def _said(capacity: int | None) -> str:
    return "missing" if capacity is None else f"{capacity} GiB"


POLICY = ResourceValidationPolicy(
    name="lustre-capacity",
    display_name="Lustre file systems have a capacity that exists",
    description="The capacity of an FSx for Lustre file system is one that FSx sells.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["storage", "F1"],
    remediation_steps="Set the storage capacity to a multiple of the step.",
    url="https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html",
    validate=on_types(*LUSTRE_MAKERS, check=_check),
)
