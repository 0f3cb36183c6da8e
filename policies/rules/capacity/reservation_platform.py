"""Nodes that launch into a reservation run an operating system of its platform.

Why:
    A reservation is for a platform, such as `Linux/UNIX` or `Red Hat Enterprise Linux`, and an
    image of another one does not match it, however alike the two are. The reservation stays free
    and the launch fails, or runs On-Demand.
Fix:
    Make the reservation with the platform of the nodes' image.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.reserved_nodes import reserved_nodes
from policies.resources.stack import Stack
from policies.rule import Config, on_stack


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


POLICY = StackValidationPolicy(
    name="reservation-platform",
    display_name="Nodes run the platform of their reservation",
    description="The images of nodes are of the platform of the reservation that they target.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["capacity", "C3", "D16"],
    remediation_steps="Set instance_platform of the reservation to that of the nodes' image.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html",
    validate=on_stack(_check),
)
