"""The nodes that launch at once into a reservation fit into it.

Why:
    Nodes beyond the size of a reservation fail with InsufficientInstanceCapacity. A managed node
    group becomes CREATE_FAILED, and ParallelCluster deletes a cluster whose static nodes do not
    start. Two groups that each fit alone may not fit together.
Fix:
    Lower the desired size of the groups that target the reservation, or raise its instance count.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
    https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-configure-cng.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.reserved_nodes import demands
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for demand in demands(stack):
        # Nodes that may run On-Demand do not have to fit.
        confined = [each for each in demand.nodes if each.confined]
        wanted = sum(each.wanted or 0 for each in confined)
        if wanted > demand.instances:
            last = next(each for each in reversed(confined) if each.wanted)
            yield (
                last.urn,
                (
                    f"{last.where}with its nodes, {wanted} nodes launch into {last.names}, which "
                    f"holds {demand.instances}; lower the desired size, or raise the instance "
                    "count of the reservation"
                ),
            )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["C12", "C5", "D12"],
    check=_check,
)
