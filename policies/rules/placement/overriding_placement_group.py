"""A compute environment or instance adds no placement group to the reservation of its template.

Why:
    A Batch compute environment or an instance can name a placement group, which overrides that of
    its launch template. With a Capacity Block or an AWS-assisted reservation in the template,
    launches fail with InsufficientInstanceCapacity while you pay for the capacity.
Fix:
    Remove the placement group. Declare your own reservations in `own_reservations`.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
    https://docs.aws.amazon.com/batch/latest/APIReference/API_ComputeResource.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pulumi_policy import EnforcementLevel, PolicyResource, Severity

from trainyard.policies.resources.launches import (
    CAPACITY_BLOCK,
    PLACEMENT_GROUP_PATHS,
    Launch,
    templates_of,
)
from trainyard.policies.resources.reservations import (
    DECLARED_SCHEMA,
    block_placement_fault,
    is_made_here,
    placement_fault,
)
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import BATCH_COMPUTE_ENVIRONMENT, INSTANCE, LAUNCH_TEMPLATE
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, config: Config) -> Iterator[tuple[str, str]]:
    for resource in stack.of_type(BATCH_COMPUTE_ENVIRONMENT, INSTANCE):
        group = stack.facts_of(resource.urn).first(*PLACEMENT_GROUP_PATHS[resource.resource_type])
        if group is None:
            continue
        for template in templates_of(stack, resource):
            fault = _fault(stack, template, group, config)
            if fault:
                yield resource.urn, f"together with its launch template {template.name}, {fault}"


def _fault(stack: Stack, template: PolicyResource, group: Any, config: Config) -> str | None:
    launch = Launch(LAUNCH_TEMPLATE, stack.facts_of(template.urn))
    if launch.market_type == CAPACITY_BLOCK:
        return block_placement_fault("remove the placement group")
    if is_made_here(stack, template):
        return None
    return placement_fault(group, launch.reservation, config)


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["capacity", "batch", "B7", "B8", "B9", "B10"],
    config_schema=DECLARED_SCHEMA,
    check=_check,
)
