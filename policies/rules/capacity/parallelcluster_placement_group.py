"""A queue of ParallelCluster brings no placement group to capacity that has its place.

Why:
    ParallelCluster itself only warns of a placement group with a Capacity Block, and knows nothing
    of who made a reservation. The nodes then fail with InsufficientInstanceCapacity one after the
    other while the capacity is paid for, and static ones take the whole cluster with them.
Fix:
    Set `PlacementGroup: {Enabled: false}` in the queue (in a stack file: remove `placement` of the
    compute resource). For a reservation of your own, declare it in `own_reservations`.
Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-odcr-v3.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-capacity-blocks.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.parallelcluster import CAPACITY_BLOCK, ComputeResource, compute_resources
from policies.resources.props import Facts
from policies.resources.reservations import DECLARED_SCHEMA, placement_fault
from policies.resources.types import CLOUDFORMATION_STACK
from policies.rule import Config, on_types


def _check(_type: str, facts: Facts, config: Config) -> Iterator[str]:
    for nodes in compute_resources(facts.get("templateBody")):
        fault = _fault(nodes, config)
        if fault:
            yield f"in its compute resource {nodes.name}, {fault}"


def _fault(nodes: ComputeResource, config: Config) -> str | None:
    if nodes.placement_group is None:
        return None
    if nodes.capacity_type == CAPACITY_BLOCK:
        return (
            "it launches into a Capacity Block and into a placement group; the instances of a "
            "block are placed together already, and a second wish makes launches fail; set "
            "PlacementGroup: {Enabled: false}"
        )
    return placement_fault(nodes.placement_group, nodes.reservation, config)


POLICY = ResourceValidationPolicy(
    name="parallelcluster-placement-group",
    display_name="ParallelCluster queues bring no placement group to reserved capacity",
    description=(
        "A compute resource of ParallelCluster has no placement group with a Capacity Block, nor "
        "beside a reservation, except the one that the reservation was made in."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["capacity", "placement", "B7", "B8", "B9", "B10"],
    config_schema=DECLARED_SCHEMA,
    remediation_steps="Set PlacementGroup: {Enabled: false} in the queue.",
    url="https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-odcr-v3.html",
    validate=on_types(CLOUDFORMATION_STACK, check=_check),
)
