"""A ParallelCluster queue of On-Demand nodes has no allocation strategy for Spot.

Why:
    `capacity-optimized` and `price-capacity-optimized` choose among Spot pools. ParallelCluster
    rejects them for On-Demand nodes and does not create the cluster.
Fix:
    Set `AllocationStrategy` to `lowest-price` or `prioritized`, or remove it.
Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.parallelcluster import compute_resources
from trainyard.policies.resources.props import Facts
from trainyard.policies.resources.types import CLOUDFORMATION_STACK
from trainyard.policies.rule import Config, resource_rule

ON_DEMAND_STRATEGIES = ("lowest-price", "prioritized")


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    refused: dict[str, str] = {}
    for nodes in compute_resources(facts.get("templateBody")):
        strategy = nodes.allocation_strategy
        if nodes.capacity_type == "ONDEMAND" and strategy not in (None, *ON_DEMAND_STRATEGIES):
            refused[nodes.name.partition("/")[0]] = str(strategy)
    for queue, strategy in refused.items():
        yield (
            f"its queue {queue} has On-Demand nodes and the allocation strategy {strategy}, which "
            "is for Spot; set AllocationStrategy to lowest-price, or remove it"
        )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["C14"],
    types=(CLOUDFORMATION_STACK,),
    check=_check,
)
