"""The capacity plan of a purchase option."""

from __future__ import annotations

from collections.abc import Mapping

from components.capacity.capacity_block import plan_capacity_block
from components.capacity.odcr import plan_odcr
from components.capacity.odcr_group import plan_odcr_group
from components.capacity.on_demand import plan_on_demand
from components.capacity.plan import CapacityPlan
from components.capacity.spot import plan_spot
from components.config.reservations import Odcr, OdcrGroup, Reservation

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
