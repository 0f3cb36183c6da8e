"""A queue of ParallelCluster has an allocation strategy only where EC2 has a choice.

Why:
    `capacity-optimized` and `price-capacity-optimized` choose among Spot pools. ParallelCluster
    refuses them for On-Demand nodes, and the cluster is not made.
Fix:
    Set `AllocationStrategy` to `lowest-price` or `prioritized`, or remove it.
Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.parallelcluster import compute_resources
from policies.resources.props import Facts
from policies.resources.types import CLOUDFORMATION_STACK
from policies.rule import Config, on_types

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
            "is one for Spot; set AllocationStrategy to lowest-price, or remove it"
        )


POLICY = ResourceValidationPolicy(
    name="parallelcluster-allocation-strategy",
    display_name="On-Demand queues have no strategy for Spot",
    description="A queue of On-Demand nodes has no allocation strategy for Spot.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["capacity", "C14"],
    remediation_steps="Set AllocationStrategy to lowest-price, or remove it.",
    url="https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html",
    validate=on_types(CLOUDFORMATION_STACK, check=_check),
)
