"""A launch into a Capacity Block names no placement group.

Why:
    EC2 already places the instances of a Capacity Block close together. It cannot move them into a
    placement group, so launches fail while the prepaid block expires.
Fix:
    Remove the placement group from the launch template (in a stack file: `placement` of the node
    group).
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.launches import CAPACITY_BLOCK, LAUNCHES, Launch
from trainyard.policies.resources.props import Facts
from trainyard.policies.resources.reservations import block_placement_fault
from trainyard.policies.rule import Config, resource_rule


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    launch = Launch(resource_type, facts)
    group = launch.placement_group
    if group is None or facts.needed("instanceMarketOptions", "marketType") != CAPACITY_BLOCK:
        return
    yield block_placement_fault("remove the placement group", group=group)


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["placement", "B7"],
    types=LAUNCHES,
    check=_check,
)
