"""A launch that targets reservations runs nowhere else.

Why:
    Without the preference `capacity-reservations-only` a group of reservations is no promise: where
    none of them has room or matches, the instances run On-Demand outside of it, at the full price,
    while the reservations are paid as well. A reservation that is targeted by its id is one: a
    launch that does not fit into it fails. With the preference `open` or `none` EC2 refuses the
    target.
Fix:
    Set `capacity_reservation_preference` to `capacity-reservations-only` beside the target.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservationSpecification.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.launches import CAPACITY_BLOCK, LAUNCHES, Launch
from policies.resources.props import UNKNOWN, Facts, is_set
from policies.resources.reservations import ONLY, PREFERENCE, TARGET
from policies.resources.types import AUTO_SCALING_GROUP
from policies.rule import Config, on_types

_GROUP = "capacityReservationResourceGroupArn"
_LISTS = ("capacityReservationIds", "capacityReservationResourceGroupArns")


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    if resource_type == AUTO_SCALING_GROUP:
        yield from _group(facts)
        return
    launch = Launch(resource_type, facts)
    if launch.reservation is None or launch.preference in (ONLY, UNKNOWN):
        return
    if is_set(launch.preference):
        yield (
            f"it targets a reservation with the preference {launch.preference!r}, which EC2 "
            f"refuses together; set capacity_reservation_preference to {ONLY}"
        )
    elif launch.market_type != CAPACITY_BLOCK and is_set(facts.get(*TARGET, _GROUP)):
        # A block is never left for On-Demand.
        yield (
            "it targets a group of reservations but may run On-Demand outside of it, at the full "
            f"price; set capacity_reservation_preference to {ONLY}"
        )


def _group(facts: Facts) -> Iterator[str]:
    # `capacity-reservations-first` says that On-Demand is wanted for the rest.
    preference = facts.get(*PREFERENCE)
    if preference == "none" and any(facts.count(*TARGET, key) for key in _LISTS):
        yield (
            "it targets a reservation with the preference 'none', which keeps it out of reserved "
            f"capacity; set capacity_reservation_preference to {ONLY}"
        )


POLICY = ResourceValidationPolicy(
    name="reservation-only-preference",
    display_name="Launches that target a reservation stay in it",
    description="A launch that targets a reservation runs only in reserved capacity.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["capacity", "cost", "C8", "C10"],
    remediation_steps="Set capacity_reservation_preference to capacity-reservations-only.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html",
    validate=on_types(*LAUNCHES, AUTO_SCALING_GROUP, check=_check),
)
