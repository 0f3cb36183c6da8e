"""An Auto Scaling group does not bring a placement group to capacity that has its place.

Why:
    A placement group or a reservation can stand in the Auto Scaling group instead of its launch
    template. Each of the two looks right on its own, and together they are the same mistake: a
    placement group beside an AWS-assisted reservation or a Capacity Block, with which launches
    fail with InsufficientInstanceCapacity while the capacity is paid for.
Fix:
    Remove `placement_group` from the Auto Scaling group, or the placement from its template. For
    a reservation of your own, declare it in `own_reservations`.
Source:
    https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CreateAutoScalingGroup.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity, StackValidationPolicy

from policies.resources.launches import CAPACITY_BLOCK, Launch, templates_of
from policies.resources.reservations import DECLARED_SCHEMA, is_made_here, placement_fault
from policies.resources.stack import Stack
from policies.resources.types import AUTO_SCALING_GROUP, LAUNCH_TEMPLATE
from policies.rule import Config, on_stack

_TARGET = ("capacityReservationSpecification", "capacityReservationTarget")


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
        (*_TARGET, "capacityReservationIds", 0),
        (*_TARGET, "capacityReservationResourceGroupArns", 0),
    )
    if placement is None and reservation is None:  # the template says it all, or nothing
        return None
    if placement is not None and launch.market_type == CAPACITY_BLOCK:
        return (
            "it launches into a Capacity Block and into a placement group; the instances of a "
            "block are placed together already, and a second wish makes launches fail; remove "
            "placement_group"
        )
    if is_made_here(stack, template if reservation is None else group):
        return None
    # What the Auto Scaling group says goes before what its template says.
    return placement_fault(
        launch.placement_group if placement is None else placement,
        launch.reservation if reservation is None else reservation,
        config,
    )


POLICY = StackValidationPolicy(
    name="auto-scaling-group-placement-group",
    display_name="Auto Scaling groups bring no placement group to reserved capacity",
    description=(
        "An Auto Scaling group and its launch template together name no placement group "
        "beside a reservation, except the one that the reservation was made in."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["capacity", "placement", "B7", "B8", "B9", "B10"],
    config_schema=DECLARED_SCHEMA,
    remediation_steps="Remove placement_group from the Auto Scaling group.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html",
    validate=on_stack(_check),
)
