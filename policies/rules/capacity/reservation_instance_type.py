"""Nodes that launch into a reservation are of its instance type.

Why:
    A reservation holds instances of one type. A launch of another type that targets it fails, as
    does one that must run in a group of reservations without the type; one that may run On-Demand
    does so, while the reservation stands idle and is paid for.
Fix:
    Set the instance type of the launch template (or of the queue) to that of the reservation, or
    make the reservation for the type.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.reserved_nodes import reserved_nodes
from policies.resources.stack import Stack
from policies.rule import Config, on_stack


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for nodes in reserved_nodes(stack):
        reserved = nodes.reserved(stack, "instanceType")
        if nodes.instance_types is None or reserved is None:
            continue
        wrong = nodes.instance_types - reserved
        # Nodes that go on with On-Demand capacity may do so with another type.
        if wrong and (nodes.confined or wrong == nodes.instance_types):
            yield (
                nodes.urn,
                (
                    f"{nodes.where}it launches {', '.join(sorted(wrong))} into {nodes.names}, "
                    f"which reserves {', '.join(sorted(reserved))}; set the instance type to that "
                    "of the reservation"
                ),
            )


POLICY = StackValidationPolicy(
    name="reservation-instance-type",
    display_name="Nodes are of the type of their reservation",
    description="A launch that targets a reservation of the program has its instance type.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["capacity", "C1", "C7"],
    remediation_steps="Set the instance type to that of the reservation.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html",
    validate=on_stack(_check),
)
