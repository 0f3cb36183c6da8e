"""Plan for a resource group of On-Demand Capacity Reservations.

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html
"""

from __future__ import annotations

from components.capacity.plan import CapacityPlan
from components.config.reservations import OdcrGroup


def plan_odcr_group(purchase_option: str, reservation: OdcrGroup) -> CapacityPlan:
    """Return the plan that launches nodes into the reservations of a group, and nowhere else.

    Without the preference, instances silently launch as On-Demand when no reservation of the group
    has capacity; with it, the launch fails.
    """
    return CapacityPlan(
        purchase_option=purchase_option,
        kind="odcr-group",
        reservation_group_arn=reservation.group_arn,
        reservation_group_members=reservation.members or (),
        preference="capacity-reservations-only",
        availability_zone=reservation.availability_zone,
    )
