"""Capacity Blocks that are over, and that no nodes wait for."""

from __future__ import annotations

from datetime import datetime

from components.config.reservations import CapacityBlock
from components.config.stack import StackConfig


def is_succeeded(config: StackConfig, name: str, now: datetime) -> bool:
    """Return whether a block is over, and all nodes that use it, if any, have another one.

    Args:
        config: The stack, completed with the times of its reservations.
        name: Entry of `reservations`.
        now: Timezone-aware.
    """
    pools = config.pools()
    return _is_over(config, name, now) and all(
        any(
            other.key == pool.key and not _is_over(config, other.purchase_option, now)
            for other in pools
        )
        for pool in config.pools_with(name)
    )


def _is_over(config: StackConfig, name: str, now: datetime) -> bool:
    block = config.reservations.get(name)
    return isinstance(block, CapacityBlock) and block.ends_at is not None and block.ends_at <= now
