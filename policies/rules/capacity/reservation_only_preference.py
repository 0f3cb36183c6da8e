"""A launch that targets a reservation runs only in reserved capacity.

Why:
    Without the preference `capacity-reservations-only`, instances that target a group of
    reservations run On-Demand at full price if no reservation in the group matches or has room,
    while you also pay for the reservations. A launch that targets a reservation by id fails if it
    does not fit. EC2 rejects a target with the preference `open` or `none`.
Fix:
    Set `capacity_reservation_preference` to `capacity-reservations-only` in the specification that
    has the target.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservationSpecification.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.launches import CAPACITY_BLOCK, LAUNCHES, Launch
from trainyard.policies.resources.props import UNKNOWN, Facts, is_set
from trainyard.policies.resources.reservations import ONLY, PREFERENCE, TARGET
from trainyard.policies.resources.types import AUTO_SCALING_GROUP
from trainyard.policies.rule import Config, resource_rule

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
            f"rejects; set capacity_reservation_preference to {ONLY}"
        )
    elif launch.market_type != CAPACITY_BLOCK and is_set(facts.get(*TARGET, _GROUP)):
        # Launches into a Capacity Block never run On-Demand.
        yield (
            "it targets a group of reservations but may run On-Demand outside of it, at the full "
            f"price; set capacity_reservation_preference to {ONLY}"
        )


def _group(facts: Facts) -> Iterator[str]:
    # `capacity-reservations-first` requests On-Demand for the rest.
    preference = facts.get(*PREFERENCE)
    if preference == "none" and any(facts.count(*TARGET, key) for key in _LISTS):
        yield (
            "it targets a reservation with the preference 'none', which keeps it out of reserved "
            f"capacity; set capacity_reservation_preference to {ONLY}"
        )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["cost", "C8", "C10"],
    types=(*LAUNCHES, AUTO_SCALING_GROUP),
    check=_check,
)
