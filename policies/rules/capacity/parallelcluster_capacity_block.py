"""A queue of ParallelCluster in a Capacity Block names the block and has fixed nodes only.

Why:
    ParallelCluster launches the nodes of a Capacity Block when the block starts, all of them, and
    never again: it wants the id of the block, as many static nodes as nodes at all, and no
    allocation strategy. Anything else stops the creation of the cluster.
Fix:
    Give the compute resource a `CapacityReservationId`, set `MinCount` to `MaxCount`, above 0, and
    remove `AllocationStrategy` from the queue.
Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-capacity-blocks.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.parallelcluster import CAPACITY_BLOCK, ComputeResource, compute_resources
from policies.resources.props import Facts
from policies.resources.types import CLOUDFORMATION_STACK
from policies.rule import Config, on_types


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    for nodes in compute_resources(facts.get("templateBody")):
        if nodes.capacity_type == CAPACITY_BLOCK:
            for fault in _faults(nodes):
                yield f"in its compute resource {nodes.name}, {fault}"


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
            "Block does not take; remove AllocationStrategy"
        )


POLICY = ResourceValidationPolicy(
    name="parallelcluster-capacity-block",
    display_name="Queues in a Capacity Block name it and have static nodes",
    description=(
        "A ParallelCluster queue in a Capacity Block names its id, has as many static nodes as "
        "nodes at all, and no allocation strategy."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["capacity", "D1", "D5", "D7"],
    remediation_steps="Name the block, set MinCount to MaxCount, remove AllocationStrategy.",
    url="https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-capacity-blocks.html",
    validate=on_types(CLOUDFORMATION_STACK, check=_check),
)
