"""Nodes that run only in a reservation have no subnets outside its zone.

Why:
    A group of nodes tries every zone of its subnets. In a zone without a reservation, launches that
    must use reserved capacity fail with InsufficientInstanceCapacity, or because the zone does not
    offer the instance type. A managed node group becomes degraded although the reservation has
    room.
Fix:
    Remove the subnets of the other zones, or reserve capacity in those zones too.
Source:
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/use-ec2-capacity-reservations.html
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
        # reservation-zone reports nodes without any subnet in its zone.
        if nodes.zones is None or reserved is None or not nodes.zones & reserved:
            continue
        if not nodes.confined:  # they may run On-Demand in other zones
            continue
        without = nodes.zones - reserved
        if without:
            yield (
                nodes.urn,
                (
                    f"{nodes.where}it also launches in {', '.join(sorted(without))}, where "
                    f"{nodes.names} has no capacity; remove the subnets of those zones"
                ),
            )


POLICY = stack_rule(
    __name__,
    __doc__,
    # Advisory: a failed launch in one zone is retried in the next.
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["network", "C7", "D3"],
    check=_check,
)
