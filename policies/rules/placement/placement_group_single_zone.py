"""A pool in a cluster placement group launches in one zone.

Why:
    A cluster placement group lies in one Availability Zone: that of its first instance. Auto
    Scaling refuses several zones with such a group, and elsewhere the launches of every other
    zone fail. Pools with EFA have the same limit for EFA itself, and a rule of their own.
Fix:
    Leave one subnet in the pool, or remove the placement group.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html
    https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CreateAutoScalingGroup.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.parallelcluster import compute_resources
from policies.resources.placements import is_cluster, placement_of_pool
from policies.resources.pools import pools
from policies.resources.props import is_true
from policies.resources.stack import Stack
from policies.resources.types import CLOUDFORMATION_STACK
from policies.rule import Config, on_stack


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for pool in pools(stack):
        templates = [template for template, _ in pool.templates()] or [None]
        placed = any(is_cluster(stack, placement_of_pool(stack, pool, t)) for t in templates)
        if not placed or pool.efa_template():
            continue
        for spread in pool.spreads():
            yield (
                pool.resource.urn,
                (
                    f"it launches into a cluster placement group, which lies in one zone, and "
                    f"spreads nodes over {spread.count} {spread.what}; leave only one in "
                    f"{spread.key}, or remove the placement group"
                ),
            )
    for clusters in stack.of_type(CLOUDFORMATION_STACK):
        for nodes in compute_resources(stack.facts_of(clusters.urn).get("templateBody")):
            efa = is_true(nodes.efa.get("Enabled"))
            if nodes.placement_group is not None and len(nodes.subnets) > 1 and not efa:
                yield (
                    clusters.urn,
                    (
                        f"in its compute resource {nodes.name}, a placement group, which lies in "
                        f"one zone, stands beside {len(nodes.subnets)} subnets; leave only one in "
                        "SubnetIds, or set PlacementGroup: {Enabled: false}"
                    ),
                )


POLICY = StackValidationPolicy(
    name="placement-group-single-zone",
    display_name="A cluster placement group lies in one zone",
    description="A pool of nodes in a cluster placement group launches in one Availability Zone.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["placement", "network", "B5"],
    remediation_steps="Leave one subnet in the pool, or remove the placement group.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html",
    validate=on_stack(_check),
)
