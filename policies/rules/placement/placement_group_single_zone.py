"""A pool of nodes in a cluster placement group launches in one Availability Zone.

Why:
    A cluster placement group is in the Availability Zone of its first instance. Auto Scaling
    rejects several zones with such a group; elsewhere, launches in the other zones fail.
    `efa-single-zone` covers pools with EFA.
Fix:
    Keep one subnet in the pool, or remove the placement group.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html
    https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CreateAutoScalingGroup.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.parallelcluster import compute_resources_of
from trainyard.policies.resources.placements import in_cluster_group
from trainyard.policies.resources.pools import pools
from trainyard.policies.resources.props import is_true
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for pool in pools(stack):
        if not in_cluster_group(stack, pool) or pool.efa_template():
            continue
        for spread in pool.spreads():
            yield (
                pool.resource.urn,
                (
                    f"it launches into a cluster placement group, which is in one zone, and "
                    f"spreads nodes over {spread.count} {spread.what}; keep only one in "
                    f"{spread.key}, or remove the placement group"
                ),
            )
    for clusters, nodes in compute_resources_of(stack):
        efa = is_true(nodes.efa.get("Enabled"))
        if nodes.placement_group is not None and len(nodes.subnets) > 1 and not efa:
            yield (
                clusters.urn,
                (
                    f"{nodes.where}nodes use a placement group, which "
                    f"is in one zone, and {len(nodes.subnets)} subnets; keep only one in "
                    "SubnetIds, or set PlacementGroup: {Enabled: false}"
                ),
            )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["network", "B5"],
    check=_check,
)
