"""A launch into a reservation names no placement group but the one the reservation was made in.

Why:
    AWS makes an AWS-assisted On-Demand Capacity Reservation (ODCR) in a placement group of its
    own. A launch that names a second one fails with InsufficientInstanceCapacity while the
    reservation stands idle and is paid for, and Auto Scaling says so only minutes later. A
    resource does not show who made the reservation that it targets, so every placement group
    beside a targeted reservation is refused, unless the pack's configuration declares the
    reservation as your own: `own_reservations` names the group that it was made in, or `""`
    where it was made outside of one. The launcher takes that from the stack file. A reservation
    that the program makes itself is its own, and judged by other rules.
Fix:
    Remove the placement group from the launch template (in a stack file: `placement` of the
    node group). For a reservation of your own, declare it in `own_reservations`.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-using.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.launches import CAPACITY_BLOCK, LAUNCHES, Launch
from policies.resources.reservations import DECLARED_SCHEMA, is_made_here, placement_fault
from policies.resources.stack import Stack
from policies.rule import Config, on_stack


def _check(stack: Stack, config: Config) -> Iterator[tuple[str, str]]:
    for resource in stack.of_type(*LAUNCHES):
        launch = Launch(resource.resource_type, stack.facts_of(resource.urn))
        if launch.market_type == CAPACITY_BLOCK:  # which has a rule of its own
            continue
        if launch.placement_group is None or is_made_here(stack, resource):
            continue
        fault = placement_fault(launch.placement_group, launch.reservation, config)
        if fault:
            yield resource.urn, fault


POLICY = StackValidationPolicy(
    name="odcr-aws-assisted-no-placement-group",
    display_name="AWS-assisted reservations take no placement group",
    description=(
        "A launch that targets a capacity reservation names no placement group, "
        "except the one that the reservation was made in."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["capacity", "placement", "B8", "B9", "B10"],
    config_schema=DECLARED_SCHEMA,
    remediation_steps="Remove the placement group from the launch template.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html",
    validate=on_stack(_check),
)
