"""Reservations that are over, and Capacity Blocks that no nodes wait for."""

from __future__ import annotations

from datetime import datetime

from trainyard.components.config.reservations import CapacityBlock, OdcrGroup, Reservation
from trainyard.components.config.stack import StackConfig


def ended_at(reservation: Reservation, now: datetime) -> datetime | None:
    """Return when a reservation ended; None if its end is not known, or has not passed."""
    if isinstance(reservation, OdcrGroup) or reservation.ends_at is None:
        return None
    return reservation.ends_at if reservation.ends_at <= now else None


def is_succeeded(config: StackConfig, name: str, now: datetime) -> bool:
    """Return whether a block is over, and all nodes that use it, if any, have another one.

    Args:
        config: The stack, completed with the times of its reservations.
        name: Entry of `reservations`.
        now: Timezone-aware.
    """
    pools = config.pools()
    return _is_over_block(config, name, now) and all(
        any(
            other.key == pool.key and not _is_over_block(config, other.purchase_option, now)
            for other in pools
        )
        for pool in config.pools_with(name)
    )


def _is_over_block(config: StackConfig, name: str, now: datetime) -> bool:
    block = config.reservations.get(name)
    return isinstance(block, CapacityBlock) and ended_at(block, now) is not None
