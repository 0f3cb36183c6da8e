"""A launch in a placement group does not count on a reservation outside of it.

Why:
    A reservation made outside of a placement group reserves capacity anywhere in its zone. A
    launch into a cluster placement group needs it in one place, and may fail with
    InsufficientInstanceCapacity while the reservation has room. That holds for a reservation
    that is targeted, and for an open one of the same type.
Fix:
    Make the reservation in the placement group (`placement_group_arn`), or remove the placement
    group from the launch.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-groups.html
    https://github.com/aws/aws-parallelcluster, PlacementGroupCapacityReservationValidator
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.placements import reserved_placements
from policies.resources.stack import Stack
from policies.rule import Config, on_stack


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for each in reserved_placements(stack, open_ones=True):
        outside = [r.name for r in each.reservations if not each.is_placed(r)]
        if outside:
            yield (
                each.urn,
                (
                    f"it launches into a placement group, and the reservation {outside[0]} was "
                    "made outside of one, so launches may fail while it has room; set its "
                    "placement_group_arn, or remove the placement group"
                ),
            )


POLICY = StackValidationPolicy(
    name="reservation-outside-placement-group",
    display_name="Launches in a placement group have their reservation in it",
    description=(
        "A launch in a placement group targets, or matches, no reservation of the program that "
        "was made outside of one."
    ),
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.HIGH,
    tags=["placement", "capacity", "B9"],
    remediation_steps="Make the reservation in the placement group.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html",
    validate=on_stack(_check),
)
