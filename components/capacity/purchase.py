"""The capacity plan of a purchase option.

Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html (ODCRs)
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html
    https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html (Spot Instances)
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC

from trainyard.components.capacity.plan import CapacityPlan, CreationPlan
from trainyard.components.config.reservations import CapacityBlock, Odcr, OdcrGroup, Reservation

OPEN_PURCHASE_OPTIONS = ("on-demand", "spot")
"""Purchase options that need no reservation."""


def plan_capacity(purchase_option: str, reservations: Mapping[str, Reservation]) -> CapacityPlan:
    """Return the settings of launch templates and node groups for a purchase option.

    Raises:
        KeyError: the purchase option is neither `on-demand`, `spot` nor the name of a reservation.
    """
    if purchase_option == "on-demand":
        return plan_on_demand()
    if purchase_option == "spot":
        return plan_spot()
    reservation = reservations[purchase_option]
    if isinstance(reservation, Odcr):
        return plan_odcr(purchase_option, reservation)
    if isinstance(reservation, OdcrGroup):
        return plan_odcr_group(purchase_option, reservation)
    return plan_capacity_block(purchase_option, reservation)


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


def plan_odcr(purchase_option: str, reservation: Odcr) -> CapacityPlan:
    """Return the plan that launches nodes into one reservation, and nowhere else.

    The preference is needed in addition to the target: without it, instances can launch outside the
    reservation when the target cannot be met.
    """
    return CapacityPlan(
        purchase_option=purchase_option,
        kind="odcr",
        reservation_id=reservation.reservation_id,
        creation=_creation(reservation),
        preference="capacity-reservations-only",
        availability_zone=reservation.availability_zone,
    )


def _creation(reservation: Odcr) -> CreationPlan | None:
    count, zone = reservation.instance_count, reservation.availability_zone
    # The model requires both with `create`.
    if not reservation.create or count is None or zone is None:
        return None
    return CreationPlan(
        instance_count=count,
        availability_zone=zone,
        placement_group=reservation.placement_group,
        ends_at=reservation.ends_at and reservation.ends_at.astimezone(UTC),
        deletion_protection=reservation.deletion_protection,
    )


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


def plan_spot() -> CapacityPlan:
    """Return the plan that runs nodes in the Spot market."""
    return CapacityPlan(
        purchase_option="spot", kind="spot", market_type="spot", eks_capacity_type="SPOT"
    )


def plan_on_demand() -> CapacityPlan:
    """Return the plan for On-Demand Instances."""
    return CapacityPlan(purchase_option="on-demand", kind="on-demand")
