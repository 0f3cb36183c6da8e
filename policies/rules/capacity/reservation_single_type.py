"""Nodes that target a reservation by its id have one instance type.

Why:
    A reservation holds instances of one type, so nodes of other types in the list fail to launch.
    ParallelCluster rejects a reservation id for a compute resource with `Instances`, because it
    launches such nodes with CreateFleet, which does not accept an id.
Fix:
    Keep one instance type, or add reservations of all types to a resource group and target the
    group.
Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-odcr-v3.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.parallelcluster import compute_resources_of
from trainyard.policies.resources.pools import Pool, pools
from trainyard.policies.resources.props import is_set
from trainyard.policies.resources.reservations import TARGET
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for pool in pools(stack):
        types = {str(each) for each in pool.instance_types()}
        if len(types) > 1 and _targets_one(stack, pool):
            yield (
                pool.resource.urn,
                (
                    f"it may launch {', '.join(sorted(types))}, but its launch template targets "
                    "one reservation, which holds one type; keep one type, or target a resource "
                    "group of reservations"
                ),
            )
    for clusters, nodes in compute_resources_of(stack):
        if nodes.flexible and nodes.reservation_id is not None:
            yield (
                clusters.urn,
                (
                    f"{nodes.where}it lists Instances and targets "
                    "one reservation, which ParallelCluster rejects; set "
                    "InstanceType instead of Instances, or target a resource group"
                ),
            )


def _targets_one(stack: Stack, pool: Pool) -> bool:
    """Whether the launch template targets a reservation by id, without an override of the pool."""
    return pool.reservation is None and any(
        is_set(stack.facts_of(template.urn).get(*TARGET, "capacityReservationId"))
        for template, _ in pool.templates()
    )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["C4"],
    check=_check,
)
