"""Nodes that target a reservation have the instance type of the reservation.

Why:
    A reservation holds instances of one type. Launches of another type fail if they target the
    reservation by id or must use reserved capacity. Otherwise they run On-Demand while you pay for
    the unused reservation.
Fix:
    Set the instance type of the launch template or the queue to that of the reservation, or create
    the reservation for that type.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.reserved_nodes import reserved_nodes
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for nodes in reserved_nodes(stack):
        reserved = nodes.reserved(stack, "instanceType")
        if nodes.instance_types is None or reserved is None:
            continue
        wrong = nodes.instance_types - reserved
        # Nodes that may run On-Demand can use another type there.
        if wrong and (nodes.confined or wrong == nodes.instance_types):
            yield (
                nodes.urn,
                (
                    f"{nodes.where}it launches {', '.join(sorted(wrong))} into {nodes.names}, "
                    f"which reserves {', '.join(sorted(reserved))}; set the instance type to that "
                    "of the reservation"
                ),
            )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["C1", "C7"],
    check=_check,
)
