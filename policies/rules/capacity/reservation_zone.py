"""Nodes that target a reservation have a subnet in its Availability Zone.

Why:
    A reservation holds capacity in one Availability Zone. Nodes without a subnet in that zone never
    launch into it. With the preference `capacity-reservations-only` they do not launch at all;
    without it they run On-Demand while you pay for the unused reservation.
Fix:
    Give the node group, Auto Scaling group, compute environment or queue only the subnet in the
    zone of the reservation.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.reserved_nodes import reserved_nodes
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for nodes in reserved_nodes(stack):
        reserved = nodes.reserved(stack, "availabilityZone")
        if nodes.zones is None or reserved is None or nodes.zones & reserved:
            continue
        yield (
            nodes.urn,
            (
                f"{nodes.where}it launches in {', '.join(sorted(nodes.zones))}, but {nodes.names} "
                f"is in {', '.join(sorted(reserved))}; use a subnet of that zone"
            ),
        )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["network", "C2", "C7", "D16"],
    check=_check,
)
