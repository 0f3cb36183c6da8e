"""A ParallelCluster queue adds no placement group to capacity that already has a placement.

Why:
    ParallelCluster only warns about a placement group with a Capacity Block, and does not know who
    created a reservation. The nodes fail with InsufficientInstanceCapacity while you pay for the
    capacity, and failed static nodes end the creation of the whole cluster.
Fix:
    Set `PlacementGroup: {Enabled: false}` in the queue (in a stack file: remove `placement` of the
    compute resource). Declare your own reservations in `own_reservations`.
Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-odcr-v3.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-capacity-blocks.html
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
from trainyard.policies.resources.reservations import (
    DECLARED_SCHEMA,
    block_placement_fault,
    placement_fault,
)
from trainyard.policies.resources.types import CLOUDFORMATION_STACK
from trainyard.policies.rule import Config, resource_rule


def _check(_type: str, facts: Facts, config: Config) -> Iterator[str]:
    for nodes in compute_resources(facts.get("templateBody")):
        fault = _fault(nodes, config)
        if fault:
            yield nodes.where + fault


def _fault(nodes: ComputeResource, config: Config) -> str | None:
    if nodes.placement_group is None:
        return None
    if nodes.capacity_type == CAPACITY_BLOCK:
        return block_placement_fault("set PlacementGroup: {Enabled: false}")
    return placement_fault(nodes.placement_group, nodes.reservation, config)


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["placement", "B7", "B8", "B9", "B10"],
    config_schema=DECLARED_SCHEMA,
    types=(CLOUDFORMATION_STACK,),
    check=_check,
)
