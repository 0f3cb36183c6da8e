"""Nodes that target a reservation run an operating system of its platform.

Why:
    A reservation has a platform, such as `Linux/UNIX` or `Red Hat Enterprise Linux`. Images of
    another platform do not match it: the launch fails or runs On-Demand, and the reservation stays
    unused.
Fix:
    Create the reservation with the platform of the image of the nodes.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.reserved_nodes import reserved_nodes
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for nodes in reserved_nodes(stack):
        reserved = nodes.reserved(stack, "instancePlatform")
        if nodes.platform is None or reserved is None or nodes.platform in reserved:
            continue
        yield (
            nodes.urn,
            (
                f"{nodes.where}its images are of the platform {nodes.platform}, but {nodes.names} "
                f"is for {', '.join(sorted(reserved))}; set instance_platform of the reservation "
                f"to {nodes.platform}"
            ),
        )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["C3", "D16"],
    check=_check,
)
