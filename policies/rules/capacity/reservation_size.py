"""Nodes that are launched at once fit into the reservation that they share.

Why:
    The nodes beyond the size of a reservation fail with InsufficientInstanceCapacity, again and
    again: a managed node group is CREATE_FAILED by it, and a cluster whose static nodes do not
    come up is deleted. Two groups that each fit alone may not fit together.
Fix:
    Lower the desired size of the groups that target the reservation, or raise its instance count.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
    https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-configure-cng.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.reserved_nodes import demands
from policies.resources.stack import Stack
from policies.rule import Config, on_stack


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for demand in demands(stack):
        # Nodes that go on with On-Demand capacity need not fit.
        confined = [each for each in demand.nodes if each.confined]
        wanted = sum(each.wanted or 0 for each in confined)
        if wanted > demand.instances:
            last = next(each for each in reversed(confined) if each.wanted)
            yield (
                last.urn,
                (
                    f"{last.where}with it {wanted} nodes are launched into {last.names}, which "
                    f"holds {demand.instances}; lower the desired size, or raise the instance "
                    "count of the reservation"
                ),
            )


POLICY = StackValidationPolicy(
    name="reservation-size",
    display_name="Nodes fit into their reservation",
    description="The nodes launched at once into a reservation are no more than it holds.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["capacity", "C12", "C5", "D12"],
    remediation_steps="Lower the desired size, or raise the reservation's instance count.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html",
    validate=on_stack(_check),
)
