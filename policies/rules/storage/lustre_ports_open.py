"""Security groups of Lustre file systems allow TCP 988 and 1018-1023 in both directions.

Why:
    Clients and file servers open connections to each other, and servers to one another. With
    ingress on TCP 988 only, a client mounts and then hangs when a server connects back. Without
    egress rules it cannot mount.
Fix:
    Add ingress and egress rules for TCP 988 and 1018-1023 with the group itself and the group of
    the clients as the other side. For a file system with EFA, allow all traffic.
Source:
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.security_groups import (
    DIRECTIONS,
    ports_not_passed,
    security_groups_of,
)
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import LUSTRE_FILE_SYSTEM
from trainyard.policies.rule import Config, stack_rule

PORTS = ((988, 988), (1018, 1023))


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for system in stack.of_type(LUSTRE_FILE_SYSTEM):
        groups = security_groups_of(stack, system, "securityGroupIds")
        # The rules of groups outside the stack are unknown.
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
                    f"its security groups do not allow TCP {', '.join(missing)}, so mounts hang; "
                    "add rules for TCP 988 and 1018-1023 in both directions"
                ),
            )


def _described(ports: tuple[int, int]) -> str:
    return str(ports[0]) if ports[0] == ports[1] else f"{ports[0]}-{ports[1]}"


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["network", "F7"],
    check=_check,
)
