"""An instance type that launches into a cluster placement group supports it.

Why:
    Burstable types (t3) and some other types cannot launch into a cluster placement group. AWS
    accepts the group and the launch template, and rejects every launch.
Fix:
    Remove the placement group, or choose a type that has `cluster` in
    `PlacementGroupInfo.SupportedStrategies`.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_PlacementGroupInfo.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.policies.resources.launches import LAUNCHES
from trainyard.policies.resources.parallelcluster import compute_resources_of
from trainyard.policies.resources.placements import is_cluster, placement_of, placement_of_pool
from trainyard.policies.resources.pools import Pool, pools
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for launch in stack.of_type(*LAUNCHES):
        if is_cluster(stack, placement_of(stack, launch)):
            name = stack.facts_of(launch.urn).needed("instanceType")
            yield from ((launch.urn, fault) for fault in _faults([name]))
    for pool in pools(stack):
        yield from ((pool.resource.urn, fault) for fault in _faults(_placed_types(stack, pool)))
    for clusters, nodes in compute_resources_of(stack):
        types = nodes.instance_types if nodes.placement_group is not None else ()
        for fault in _faults(types):
            yield clusters.urn, nodes.where + fault


def _placed_types(stack: Stack, pool: Pool) -> Iterator[object]:
    """Yield the types in a placement group because of the pool, not of its template alone."""
    own = pool.instance_types() or pool.placement_group is not None
    for template, launch in pool.templates():
        if own and is_cluster(stack, placement_of_pool(stack, pool, template)):
            yield from pool.launched_types(launch)


def _faults(names: Iterable[object]) -> Iterator[str]:
    for name in dict.fromkeys(names):
        instance_type = INSTANCE_TYPES.get(str(name))
        if instance_type is not None and not instance_type.cluster_placement_supported:
            yield (
                f"it launches {name} into a cluster placement group, which does not support "
                "that type; remove the placement group, or choose another type"
            )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["B4"],
    check=_check,
)
