"""The capacity of an FSx for Lustre file system is one that FSx offers.

Why:
    FSx offers 1200 GiB, and then steps that depend on the deployment type, the storage type, the
    throughput and EFA. It rejects other values when it creates the file system.
Fix:
    Set the storage capacity to a multiple of the step (in a stack file: `storage_capacity_gib`).
Source:
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/getting-started.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.components.config.fsx_lustre import capacity_rule
from trainyard.policies.resources.lustre import LUSTRE_MAKERS, lustre_systems
from trainyard.policies.resources.props import UNKNOWN, Facts
from trainyard.policies.rule import Config, resource_rule


def _check(type_: str, facts: Facts, _config: Config) -> Iterator[str]:
    for system in lustre_systems(type_, facts):
        if system.capacity is UNKNOWN:
            continue
        rule = capacity_rule(
            system.deployment_type, system.storage_type, system.throughput, efa=system.efa
        )
        # Without a capacity rule, the throughput is unknown, or lustre-throughput reports it.
        if rule is None or (system.capacity is not None and rule.allows(system.capacity)):
            continue
        kind = f"{system.deployment_type} on {system.storage_type}{' with EFA' * system.efa}"
        yield (
            f"{system.where}its capacity is {_said(system.capacity)}, but {kind} is available in "
            f"{rule}; set the storage capacity to {rule.nearest(system.capacity or 0)}"
        )


def _said(capacity: int | None) -> str:
    return "missing" if capacity is None else f"{capacity} GiB"


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["F1"],
    types=LUSTRE_MAKERS,
    check=_check,
)
