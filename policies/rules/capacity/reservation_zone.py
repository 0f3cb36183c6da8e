"""Nodes that launch into a reservation have a subnet in its zone.

Why:
    Capacity is reserved in one Availability Zone. Nodes whose subnets all lie in other zones never
    launch into it; without the preference `capacity-reservations-only` they run On-Demand beside
    the idle reservation, and with it they do not run at all.
Fix:
    Give the node group, Auto Scaling group, compute environment or queue the subnet of the
    reservation's zone, and only that.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.reserved_nodes import reserved_nodes
from policies.resources.stack import Stack
from policies.rule import Config, on_stack


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for nodes in reserved_nodes(stack):
        reserved = nodes.reserved(stack, "availabilityZone")
        if nodes.zones is None or reserved is None or nodes.zones & reserved:
            continue
        yield (
            nodes.urn,
            (
                f"{nodes.where}it launches in {', '.join(sorted(nodes.zones))}, but {nodes.names} "
                f"lies in {', '.join(sorted(reserved))}; use a subnet of that zone"
            ),
        )


POLICY = StackValidationPolicy(
    name="reservation-zone",
    display_name="Nodes launch in the zone of their reservation",
    description="A launch that targets a reservation of the program has a subnet in its zone.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["capacity", "network", "C2", "C7", "D16"],
    remediation_steps="Use a subnet of the reservation's zone.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html",
    validate=on_stack(_check),
)
