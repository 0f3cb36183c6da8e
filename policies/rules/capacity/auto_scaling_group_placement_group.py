"""An Auto Scaling group adds no placement group to capacity that already has a placement.

Why:
    The Auto Scaling group can set the placement group or the reservation instead of the launch
    template. Each resource is valid on its own. Together they combine a placement group with an
    AWS-assisted reservation or a Capacity Block, and launches fail with
    InsufficientInstanceCapacity while you pay for the capacity.
Fix:
    Remove `placement_group` from the Auto Scaling group, or the placement from its launch template.
    Declare your own reservations in `own_reservations`.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
    https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CreateAutoScalingGroup.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity

from trainyard.policies.resources.launches import CAPACITY_BLOCK, Launch, templates_of
from trainyard.policies.resources.reservations import (
    DECLARED_SCHEMA,
    TARGET,
    block_placement_fault,
    is_made_here,
    placement_fault,
)
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import AUTO_SCALING_GROUP, LAUNCH_TEMPLATE
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, config: Config) -> Iterator[tuple[str, str]]:
    for group in stack.of_type(AUTO_SCALING_GROUP):
        for template in templates_of(stack, group):
            fault = _fault(stack, group, template, config)
            if fault:
                yield group.urn, f"together with its launch template {template.name}, {fault}"


def _fault(
    stack: Stack, group: PolicyResource, template: PolicyResource, config: Config
) -> str | None:
    facts, launch = stack.facts_of(group.urn), Launch(LAUNCH_TEMPLATE, stack.facts_of(template.urn))
    placement = facts.first(("placementGroup",))
    reservation = facts.first(
        (*TARGET, "capacityReservationIds", 0),
        (*TARGET, "capacityReservationResourceGroupArns", 0),
    )
    if placement is None and reservation is None:  # other rules cover the template
        return None
    if placement is not None and launch.market_type == CAPACITY_BLOCK:
        return block_placement_fault("remove placement_group")
    if is_made_here(stack, template if reservation is None else group):
        return None
    # Settings of the Auto Scaling group override those of its template.
    return placement_fault(
        launch.placement_group if placement is None else placement,
        launch.reservation if reservation is None else reservation,
        config,
    )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["placement", "B7", "B8", "B9", "B10"],
    config_schema=DECLARED_SCHEMA,
    check=_check,
)
