"""A launch that targets a reservation runs nowhere else.

Why:
    A target without the preference `capacity-reservations-only` is no promise: where a group of
    reservations has no room or no match, the instances run On-Demand outside of it, at the full
    price, while the reservation is paid as well. With the preference `open` or `none` EC2
    refuses the target.
Fix:
    Set `capacity_reservation_preference` to `capacity-reservations-only` beside the target.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservationSpecification.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.launch import CAPACITY_BLOCK, LAUNCHES, Launch
from policies.props import UNKNOWN, Facts
from policies.rule import Config, on_types

ONLY = "capacity-reservations-only"


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    launch = Launch(resource_type, facts)
    if launch.reservation is None or launch.preference in (ONLY, UNKNOWN):
        return
    if launch.preference is not None:
        yield (
            f"it targets a reservation with the preference {launch.preference!r}, which EC2 "
            f"refuses together; set capacity_reservation_preference to {ONLY}"
        )
    elif launch.market_type != CAPACITY_BLOCK:  # a block is never left for On-Demand
        yield (
            "it targets a reservation but may run On-Demand outside of it, at the full price; "
            f"set capacity_reservation_preference to {ONLY}"
        )


POLICY = ResourceValidationPolicy(
    name="reservation-only-preference",
    display_name="Launches that target a reservation stay in it",
    description="A launch that targets a reservation runs only in reserved capacity.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["capacity", "cost"],
    remediation_steps="Set capacity_reservation_preference to capacity-reservations-only.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html",
    validate=on_types(*LAUNCHES, check=_check),
)
