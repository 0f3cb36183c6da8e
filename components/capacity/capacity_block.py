"""Plan for an EC2 Capacity Block for ML.

Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
"""

from __future__ import annotations

from components.capacity.plan import CapacityPlan
from components.config.reservations import CapacityBlock


def plan_capacity_block(purchase_option: str, reservation: CapacityBlock) -> CapacityPlan:
    """Return the plan that launches nodes into a Capacity Block.

    A block requires the market type, the reservation and, in the launch template, the instance
    type. The program adds the preference, as for every reservation.
    """
    return CapacityPlan(
        purchase_option=purchase_option,
        kind="capacity-block",
        market_type="capacity-block",
        reservation_id=reservation.reservation_id,
        preference="capacity-reservations-only",
        availability_zone=reservation.availability_zone,
        eks_capacity_type="CAPACITY_BLOCK",
    )
