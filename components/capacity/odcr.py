"""Plan for one On-Demand Capacity Reservation (ODCR).

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
"""

from __future__ import annotations

from components.capacity.plan import CapacityPlan
from components.config.reservations import Odcr


def plan_odcr(purchase_option: str, reservation: Odcr) -> CapacityPlan:
    """Return the plan that launches nodes into one reservation, and nowhere else.

    The preference is stated although a reservation is targeted: without it the launch is
    permitted to run outside of the reservation where the target cannot be met.
    """
    return CapacityPlan(
        purchase_option=purchase_option,
        kind="odcr",
        reservation_id=reservation.reservation_id,
        preference="capacity-reservations-only",
        availability_zone=reservation.availability_zone,
    )
