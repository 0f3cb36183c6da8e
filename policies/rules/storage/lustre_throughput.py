"""A persistent Lustre file system has a throughput that FSx offers, and a scratch one has none.

Why:
    Persistent file systems need a throughput per TiB, from a few values that depend on the
    deployment type and the storage type. There is no default, and FSx rejects a throughput for
    scratch file systems.
Fix:
    Set the throughput to a value of the deployment type, or remove it from a scratch file system
    (in a stack file: `per_unit_storage_throughput`).
Source:
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.components.config.fsx_lustre import THROUGHPUTS, is_persistent
from trainyard.policies.resources.lustre import LUSTRE_MAKERS, Lustre, lustre_systems
from trainyard.policies.resources.props import UNKNOWN, Facts
from trainyard.policies.rule import Config, resource_rule


def _check(type_: str, facts: Facts, _config: Config) -> Iterator[str]:
    for system in lustre_systems(type_, facts):
        fault = None if system.throughput is UNKNOWN else _fault(system)
        if fault:
            yield system.where + fault


def _fault(system: Lustre) -> str | None:
    given = system.throughput
    if not is_persistent(system.deployment_type):
        return (
            None
            if given is None
            else (
                f"its throughput is {given}, but {system.deployment_type} has a fixed one; remove "
                "the per-unit storage throughput, or make the file system persistent"
            )
        )
    allowed = THROUGHPUTS.get((system.deployment_type, system.storage_type))
    if allowed is None or given in allowed:  # lustre-type-options reports the storage type
        return None
    kind = f"{system.deployment_type} on {system.storage_type}"
    return (
        f"its throughput is {'missing' if given is None else given}, but {kind} requires "
        f"one of {', '.join(map(str, allowed))} MB/s/TiB; set the per-unit storage throughput to "
        "one of them"
    )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["F2"],
    types=LUSTRE_MAKERS,
    check=_check,
)
