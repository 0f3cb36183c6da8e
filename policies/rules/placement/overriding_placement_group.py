"""What launches from a template brings no placement group to the reservation of the template.

Why:
    A compute environment of Batch and an instance may name a placement group of their own, which
    goes before that of their launch template. Beside a Capacity Block or an AWS-assisted
    reservation in the template it is the same mistake as one in the template, and harder to see:
    launches fail with InsufficientInstanceCapacity while the capacity is paid for.
Fix:
    Remove the placement group. For a reservation of your own, declare it in `own_reservations`.
Source:
    https://docs.aws.amazon.com/batch/latest/APIReference/API_ComputeResource.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pulumi_policy import EnforcementLevel, PolicyResource, Severity, StackValidationPolicy

from policies.resources.launches import CAPACITY_BLOCK, PLACEMENT_GROUP_PATHS, Launch, templates_of
from policies.resources.reservations import DECLARED_SCHEMA, is_made_here, placement_fault
from policies.resources.stack import Stack
from policies.resources.types import BATCH_COMPUTE_ENVIRONMENT, INSTANCE, LAUNCH_TEMPLATE
from policies.rule import Config, on_stack

_PATHS = {
    BATCH_COMPUTE_ENVIRONMENT: (("computeResources", "placementGroup"),),
    INSTANCE: PLACEMENT_GROUP_PATHS[INSTANCE],
}


def _check(stack: Stack, config: Config) -> Iterator[tuple[str, str]]:
    for resource in stack.of_type(*_PATHS):
        group = stack.facts_of(resource.urn).first(*_PATHS[resource.resource_type])
        if group is None:
            continue
        for template in templates_of(stack, resource):
            fault = _fault(stack, template, group, config)
            if fault:
                yield resource.urn, f"together with its launch template {template.name}, {fault}"


def _fault(stack: Stack, template: PolicyResource, group: Any, config: Config) -> str | None:
    launch = Launch(LAUNCH_TEMPLATE, stack.facts_of(template.urn))
    if launch.market_type == CAPACITY_BLOCK:
        return (
            "it launches into a Capacity Block and into a placement group; the instances of a "
            "block are placed together already, and a second wish makes launches fail; remove "
            "the placement group"
        )
    if is_made_here(stack, template):
        return None
    return placement_fault(group, launch.reservation, config)


POLICY = StackValidationPolicy(
    name="overriding-placement-group",
    display_name="No placement group of one's own beside the reservation of a template",
    description=(
        "A compute environment or an instance names no placement group beside a reservation of "
        "its launch template, except the one that the reservation was made in."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["placement", "capacity", "batch", "B7", "B8", "B9", "B10"],
    config_schema=DECLARED_SCHEMA,
    remediation_steps="Remove the placement group.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html",
    validate=on_stack(_check),
)
