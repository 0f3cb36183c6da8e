"""Plan for one On-Demand Capacity Reservation (ODCR).

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
"""

from __future__ import annotations

from components.capacity.plan import CapacityPlan
from components.config.reservations import Odcr


def plan_odcr(purchase_option: str, reservation: Odcr) -> CapacityPlan:
    """Return the plan that launches nodes into one reservation, and nowhere else.

    The preference is needed in addition to the target: without it, instances can launch outside the
    reservation when the target cannot be met.
    """
    return CapacityPlan(
        purchase_option=purchase_option,
        kind="odcr",
        reservation_id=reservation.reservation_id,
        preference="capacity-reservations-only",
        availability_zone=reservation.availability_zone,
    )
