"""Lustre file systems have a security group that passes Lustre's ports both ways.

Why:
    Clients and servers open connections to each other, and servers to one another. A group that
    lets in TCP 988 only mounts, and then hangs when a server calls back; one without egress rules
    never mounts.
Fix:
    Add ingress and egress rules for TCP 988 and 1018-1023, with the group itself and the clients'
    group as the other side; for a file system with EFA, for all traffic.
Source:
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.security_groups import DIRECTIONS, ports_not_passed, security_groups_of
from policies.resources.stack import Stack
from policies.resources.types import LUSTRE_FILE_SYSTEM
from policies.rule import Config, on_stack

PORTS = ((988, 988), (1018, 1023))


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for system in stack.of_type(LUSTRE_FILE_SYSTEM):
        groups = security_groups_of(stack, system, "securityGroupIds")
        # Groups that were made elsewhere are not seen, and decide nothing.
        missing = [
            f"{direction} {_described(ports)}"
            for direction in DIRECTIONS
            for ports in ports_not_passed(stack, groups, direction, PORTS)
            if groups
        ]
        if missing:
            yield (
                system.urn,
                (
                    f"its security groups pass no TCP {', '.join(missing)}: mounts would hang; add "
                    "rules for TCP 988 and 1018-1023 in both directions"
                ),
            )


def _described(ports: tuple[int, int]) -> str:
    return str(ports[0]) if ports[0] == ports[1] else f"{ports[0]}-{ports[1]}"


POLICY = StackValidationPolicy(
    name="lustre-ports-open",
    display_name="Lustre's ports pass both ways",
    description="Security groups of Lustre file systems pass TCP 988 and 1018-1023, in and out.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["storage", "network", "F7"],
    remediation_steps="Add ingress and egress rules for TCP 988 and 1018-1023.",
    url="https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html",
    validate=on_stack(_check),
)
