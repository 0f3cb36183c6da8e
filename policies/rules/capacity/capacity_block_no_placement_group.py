"""A launch into a Capacity Block names no placement group.

Why:
    The instances of a Capacity Block stand next to one another already. A placement group is a
    second, contradicting wish: EC2 cannot move the block into it, and launches fail while the
    block, paid in advance, runs down.
Fix:
    Remove the placement group from the launch template (in a stack file: `placement` of the
    node group).
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.launches import CAPACITY_BLOCK, LAUNCHES, Launch
from policies.resources.props import UNKNOWN, Facts
from policies.rule import Config, on_types


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    launch = Launch(resource_type, facts)
    group = launch.placement_group
    if group is None or facts.needed("instanceMarketOptions", "marketType") != CAPACITY_BLOCK:
        return
    name = "a placement group that this program makes" if group is UNKNOWN else repr(group)
    yield (
        f"it launches into a Capacity Block and into {name}; the instances of a block are placed "
        "together already, and a second wish makes launches fail; remove the placement group"
    )


POLICY = ResourceValidationPolicy(
    name="capacity-block-no-placement-group",
    display_name="Capacity Blocks take no placement group",
    description="A launch into a Capacity Block names no placement group.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["capacity", "placement", "B7"],
    remediation_steps="Remove the placement group from the launch template.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html",
    validate=on_types(*LAUNCHES, check=_check),
)
