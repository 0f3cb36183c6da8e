"""Groups of nodes cannot grow beyond the reservation that they share.

Why:
    An autoscaler, or Slurm, grows a group up to its maximum. The nodes beyond the reservation fail
    with InsufficientInstanceCapacity: Slurm sets them down, and jobs that were given to them go
    back to the queue.
Fix:
    Lower the maximum of the groups that target the reservation, or raise its instance count.
Source:
    https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-configure-cng.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.reserved_nodes import demands
from policies.resources.stack import Stack
from policies.rule import Config, on_stack


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for demand in demands(stack):
        confined = [each for each in demand.nodes if each.confined]
        if sum(each.wanted or 0 for each in confined) > demand.instances:
            continue  # the graver fault, with a rule of its own
        most = sum(each.maximum or 0 for each in confined)
        if most > demand.instances:
            last = next(each for each in reversed(confined) if each.maximum)
            yield (
                last.urn,
                (
                    f"{last.where}with it up to {most} nodes are launched into {last.names}, "
                    f"which holds {demand.instances}; lower the maximum size, or raise the "
                    "instance count of the reservation"
                ),
            )


POLICY = StackValidationPolicy(
    name="reservation-maximum-size",
    display_name="Nodes cannot outgrow their reservation",
    description="The maximum sizes of the nodes of a reservation are no more than it holds.",
    # Nothing fails before somebody asks for the last nodes.
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["capacity", "C5", "D12"],
    remediation_steps="Lower the maximum size, or raise the reservation's instance count.",
    url="https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-configure-cng.html",
    validate=on_stack(_check),
)
