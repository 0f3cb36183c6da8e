"""Nodes with EFA outside reserved capacity share a cluster placement group.

Why:
    EC2 places On-Demand and Spot Instances anywhere in their zone. A cluster placement group places
    them close together, which reduces the latency of collective communication. EC2 already places
    the nodes of a reservation or a Capacity Block, so the rule skips them. It also skips groups of
    one node and groups in several zones.
Fix:
    Create an `aws.ec2.PlacementGroup` with the strategy `cluster`, and name it in `placement` of
    the launch template (in a stack file: `workload: training` of the nodes, the default with EFA,
    does this).
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.policies.resources.launches import CAPACITY_BLOCK
from trainyard.policies.resources.pools import Pool, pools
from trainyard.policies.resources.props import UNKNOWN
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import CAPACITY_RESERVATION
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    reserved = {
        stack.facts_of(each.urn).get("instanceType") for each in stack.of_type(CAPACITY_RESERVATION)
    }
    for pool in pools(stack):
        found = pool.efa_template()
        if found is None or _is_placed(pool) or any(pool.spreads()):
            continue
        template, launch = found
        types = set(pool.launched_types(launch))
        # An open reservation of the stack also serves instances that do not target it.
        if types & reserved or UNKNOWN in types or not all(map(_may_be_placed, types)):
            continue
        if pool.may_hold_several(launch):
            yield (
                pool.resource.urn,
                (
                    f"its launch template {template.name} has EFA interfaces and nothing places "
                    "its nodes close together; name a cluster placement group in placement of the "
                    "launch template"
                ),
            )


def _is_placed(pool: Pool) -> bool:
    if pool.placement_group is not None or pool.reservation is not None:
        return True
    return any(
        launch.placement_group is not None
        or launch.reservation is not None
        or launch.market_type in (CAPACITY_BLOCK, UNKNOWN)
        for _, launch in pool.templates()
    )


def _may_be_placed(name: object) -> bool:
    instance_type = INSTANCE_TYPES.get(str(name))
    return instance_type is not None and instance_type.cluster_placement_supported


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["placement", "A9"],
    check=_check,
)
