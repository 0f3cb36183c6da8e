"""A ParallelCluster queue in a Capacity Block names the block and has static nodes only.

Why:
    ParallelCluster launches all nodes of a Capacity Block once, when the block starts. It requires
    the id of the block, a minimum count equal to the maximum count, and no allocation strategy.
    Anything else stops the creation of the cluster.
Fix:
    Set `CapacityReservationId` of the compute resource, set `MinCount` equal to `MaxCount` and
    above 0, and remove `AllocationStrategy` from the queue.
Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-capacity-blocks.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.parallelcluster import (
    CAPACITY_BLOCK,
    ComputeResource,
    compute_resources,
)
from trainyard.policies.resources.props import Facts
from trainyard.policies.resources.types import CLOUDFORMATION_STACK
from trainyard.policies.rule import Config, resource_rule


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    for nodes in compute_resources(facts.get("templateBody")):
        if nodes.capacity_type == CAPACITY_BLOCK:
            for fault in _faults(nodes):
                yield nodes.where + fault


def _faults(nodes: ComputeResource) -> Iterator[str]:
    if not nodes.names_reservation:
        yield (
            "the capacity type is CAPACITY_BLOCK but no block is named; set CapacityReservationId "
            "to the cr- id of the Capacity Block"
        )
    known = nodes.minimum is not None and nodes.maximum is not None
    if known and (nodes.minimum != nodes.maximum or nodes.minimum == 0):
        yield (
            f"MinCount is {nodes.minimum} and MaxCount {nodes.maximum}, but the nodes of a "
            "Capacity Block are all static; set both to the number of nodes, above 0"
        )
    if nodes.allocation_strategy is not None:
        yield (
            f"the queue has the allocation strategy {nodes.allocation_strategy}, which a Capacity "
            "Block does not support; remove AllocationStrategy"
        )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["D1", "D5", "D7"],
    types=(CLOUDFORMATION_STACK,),
    check=_check,
)
