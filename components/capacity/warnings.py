"""Warnings before the end of a Capacity Block that users ask for.

Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from trainyard.components.config.reservations import CapacityBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockWarning:
    """A message at a fixed time before the end of a block."""

    hours_before_end: int
    at: datetime
    """UTC."""
    ends_at: datetime
    """UTC."""


def block_warnings(block: CapacityBlock, hours: Sequence[int]) -> Iterator[BlockWarning]:
    """Yield the warnings of a block in the order of time; none if its end is unknown.

    A warning that would be due before the block starts is left out.

    Args:
        block: The block.
        hours: Hours before the end.
    """
    if block.ends_at is None:
        return
    ends_at = block.ends_at.astimezone(UTC)
    for before in sorted({*hours}, reverse=True):
        at = ends_at - timedelta(hours=before)
        if block.starts_at is None or at > block.starts_at:
            yield BlockWarning(hours_before_end=before, at=at, ends_at=ends_at)
