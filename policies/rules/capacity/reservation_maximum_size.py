"""The maximum sizes of the nodes that share a reservation fit into it.

Why:
    An autoscaler or Slurm grows a group up to its maximum. Nodes beyond the reservation fail with
    InsufficientInstanceCapacity; Slurm marks them as down and requeues their jobs.
Fix:
    Lower the maximum size of the groups that target the reservation, or raise its instance count.
Source:
    https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-configure-cng.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.reserved_nodes import demands
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for demand in demands(stack):
        confined = [each for each in demand.nodes if each.confined]
        if sum(each.wanted or 0 for each in confined) > demand.instances:
            continue  # reservation-size reports this
        most = sum(each.maximum or 0 for each in confined)
        if most > demand.instances:
            last = next(each for each in reversed(confined) if each.maximum)
            yield (
                last.urn,
                (
                    f"{last.where}with its nodes, up to {most} nodes launch into {last.names}, "
                    f"which holds {demand.instances}; lower the maximum size, or raise the "
                    "instance count of the reservation"
                ),
            )


POLICY = stack_rule(
    __name__,
    __doc__,
    # Advisory: launches fail only when a group grows to its maximum.
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["C5", "D12"],
    check=_check,
)
