"""The preference for reserved capacity is a word that AWS knows.

Why:
    Launch templates and Auto Scaling groups have different words for it: `open` is of the first
    and `capacity-reservations-first` of the second. A wrong one is refused when the resource is
    made, after everything before it has been waited for.
Fix:
    Set `capacity_reservation_preference` to `capacity-reservations-only`, `open` or `none`; in an
    Auto Scaling group to `capacity-reservations-only`, `capacity-reservations-first`, `none` or
    `default`.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservationSpecification.html
    https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CapacityReservationSpecification.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.launches import LAUNCHES
from policies.resources.props import UNKNOWN, Facts
from policies.resources.reservations import ONLY, PREFERENCE
from policies.resources.types import AUTO_SCALING_GROUP
from policies.rule import Config, on_types

OF_LAUNCHES = (ONLY, "open", "none")
OF_GROUPS = (ONLY, "capacity-reservations-first", "none", "default")


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    preference = facts.needed(*PREFERENCE)
    known = OF_GROUPS if resource_type == AUTO_SCALING_GROUP else OF_LAUNCHES
    if preference not in (None, "", UNKNOWN, *known):
        yield (
            f"its preference for reserved capacity is {preference!r}, which AWS does not know "
            f"here; set capacity_reservation_preference to {', '.join(known[:-1])} or {known[-1]}"
        )


POLICY = ResourceValidationPolicy(
    name="reservation-preference-known",
    display_name="The preference for reserved capacity exists",
    description="The capacity reservation preference is one of those that AWS knows.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["capacity", "C9"],
    remediation_steps="Set capacity_reservation_preference to one of the known words.",
    url=(
        "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/"
        "API_CapacityReservationSpecification.html"
    ),
    validate=on_types(*LAUNCHES, AUTO_SCALING_GROUP, check=_check),
)
