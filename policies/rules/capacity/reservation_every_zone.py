"""Nodes that launch into a reservation have subnets in its zone only.

Why:
    A group of nodes tries every zone of its subnets. In a zone without a reservation, launches that
    must run in reserved capacity fail with InsufficientInstanceCapacity, or with an instance type
    that does not exist there, and a managed node group becomes degraded by it though the
    reservation has room.
Fix:
    Remove the subnets of the other zones, or reserve capacity in those zones too.
Source:
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/use-ec2-capacity-reservations.html
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
        # Nodes without any subnet in its zone are a graver fault, with a rule of its own.
        if nodes.zones is None or reserved is None or not nodes.zones & reserved:
            continue
        if not nodes.confined:  # elsewhere they run On-Demand, as they say
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


POLICY = StackValidationPolicy(
    name="reservation-every-zone",
    display_name="Nodes launch only where their capacity is",
    description="Every zone of nodes that run in reservations of the program only has one of them.",
    # The other zones only cost failed launches: the group goes on with the next one.
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["capacity", "network", "C7", "D3"],
    remediation_steps="Remove the subnets of zones without a reservation.",
    url="https://docs.aws.amazon.com/autoscaling/ec2/userguide/use-ec2-capacity-reservations.html",
    validate=on_stack(_check),
)
