"""A pool of nodes in a cluster placement group launches one instance type.

Why:
    AWS recommends one instance type in a cluster placement group. With several types, launches are
    more likely to fail with InsufficientInstanceCapacity, although capacity exists outside the
    group.
Fix:
    Keep one instance type in the pool, or remove the placement group.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.parallelcluster import compute_resources_of
from trainyard.policies.resources.placements import in_cluster_group
from trainyard.policies.resources.pools import Pool, pools
from trainyard.policies.resources.props import UNKNOWN
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for pool in pools(stack):
        types = _types(pool)
        if len(types) > 1 and in_cluster_group(stack, pool):
            yield (
                pool.resource.urn,
                (
                    f"it launches {', '.join(types)} into one cluster placement group, where "
                    "launches of several types often fail; keep one type, or remove the "
                    "placement group"
                ),
            )
    for clusters, nodes in compute_resources_of(stack):
        if nodes.placement_group is not None and len(set(nodes.instance_types)) > 1:
            yield (
                clusters.urn,
                (
                    f"{nodes.where}"
                    f"{', '.join(nodes.instance_types)} launch into one placement group, where "
                    "launches of several types often fail; keep one type, or set "
                    "PlacementGroup: {Enabled: false}"
                ),
            )


def _types(pool: Pool) -> list[str]:
    """Return the distinct types that a pool lists; a family of Batch counts as one."""
    return list(dict.fromkeys(str(t) for t in pool.instance_types() if t is not UNKNOWN))


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["B6"],
    check=_check,
)
