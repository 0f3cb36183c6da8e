"""A launch into a reservation names no placement group, except that of the reservation.

Why:
    AWS creates an AWS-assisted On-Demand Capacity Reservation (ODCR) in a placement group of its
    own. A launch that names another group fails with InsufficientInstanceCapacity while you pay for
    the unused reservation, and Auto Scaling reports the error only minutes later. A resource does
    not show who created the reservation that it targets, so the rule reports every placement group
    with a targeted reservation unless `own_reservations` declares the reservation: with the
    placement group of the reservation, or `""` if it has none. The launcher fills in that key from
    the stack file. Other rules cover reservations that the program creates.
Fix:
    Remove the placement group from the launch template (in a stack file: `placement` of the node
    group). Declare your own reservations in `own_reservations`.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-using.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.launches import CAPACITY_BLOCK, LAUNCHES, Launch
from trainyard.policies.resources.reservations import DECLARED_SCHEMA, is_made_here, placement_fault
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, config: Config) -> Iterator[tuple[str, str]]:
    for resource in stack.of_type(*LAUNCHES):
        launch = Launch(resource.resource_type, stack.facts_of(resource.urn))
        if launch.market_type == CAPACITY_BLOCK:  # see capacity-block-no-placement-group
            continue
        if launch.placement_group is None or is_made_here(stack, resource):
            continue
        fault = placement_fault(launch.placement_group, launch.reservation, config)
        if fault:
            yield resource.urn, fault


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["placement", "B8", "B9", "B10"],
    config_schema=DECLARED_SCHEMA,
    check=_check,
)
