"""The life of a Capacity Block: what EC2, EKS and the stack do, and when users are warned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from trainyard.components.capacity.schedule import nodes_leave_before_end
from trainyard.components.catalog.capacity_blocks import (
    WARNED_BEFORE_TERMINATION,
    terminated_before_end,
)
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


# Warnings before the end of a Capacity Block that users ask for.
#
# Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html


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


# The life of a Capacity Block: what EC2, EKS and the stack do, and when.
#
# Sources:
#     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html
#     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-monitor.html


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One event in the life of a block."""

    at: datetime
    """UTC."""
    event: str
    """What happens, as one sentence without a period."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The life of one Capacity Block of a stack."""

    reservation: str
    """Entry of `reservations`."""
    reservation_id: str
    pools: tuple[str, ...]
    """The nodes that launch into it, such as `node group p5: 2 x p5.48xlarge`."""
    starts_at: datetime | None
    """UTC; None if unknown."""
    ends_at: datetime | None
    """UTC; None if unknown."""
    leaves_at: datetime | None
    """When the scheduler takes the nodes, in UTC; None if the end is unknown."""
    moments: tuple[Moment, ...]
    """In the order of time."""

    def state(self, now: datetime) -> str:
        """Return `scheduled`, `active`, `ended`, or `unknown` without times."""
        if self.starts_at is None and self.ends_at is None:
            return "unknown"
        if self.starts_at is not None and now < self.starts_at:
            return "scheduled"
        return "ended" if self.ends_at is not None and now >= self.ends_at else "active"


def block_timelines(config: StackConfig) -> tuple[Timeline, ...]:
    """Return the timelines of the Capacity Blocks that nodes of the stack use.

    Args:
        config: The stack, completed with the times of its reservations.
    """
    return tuple(
        _timeline(name, reservation, config)
        for name, reservation in config.reservations.items()
        if isinstance(reservation, CapacityBlock) and config.pools_with(name)
    )


def _timeline(name: str, block: CapacityBlock, config: StackConfig) -> Timeline:
    starts_at, ends_at = (
        None if each is None else each.astimezone(UTC) for each in (block.starts_at, block.ends_at)
    )
    noun, users = config.architecture.POOL_NOUN, config.pools_with(name)
    instance_type = users[0].instance_type
    return Timeline(
        reservation=name,
        reservation_id=block.reservation_id,
        pools=tuple(f"{noun} {each.name}: {each.wanted} x {each.instance_type}" for each in users),
        starts_at=starts_at,
        ends_at=ends_at,
        leaves_at=ends_at - nodes_leave_before_end(instance_type) if ends_at else None,
        moments=tuple(_moments(config, block, instance_type, starts_at, ends_at)),
    )


def _moments(
    config: StackConfig,
    block: CapacityBlock,
    instance_type: str,
    starts_at: datetime | None,
    ends_at: datetime | None,
) -> Iterator[Moment]:
    if starts_at is not None:
        yield Moment(at=starts_at, event=f"the block starts: {config.architecture.BLOCK_STARTS}")
    if ends_at is None:
        return
    alarms = config.monitoring.alarms if config.monitoring else None
    for warning in block_warnings(block, alarms.block_warning_hours if alarms else ()):
        yield Moment(
            at=warning.at,
            event=f"`monitoring.alarms` warns of the end in {warning.hours_before_end} h",
        )
    terminated = ends_at - terminated_before_end(instance_type)
    warned = terminated - WARNED_BEFORE_TERMINATION
    yield Moment(at=warned, event=f"EC2 sends its warning of the end{_told(config)}")
    if config.architecture.BLOCK_DRAINS:
        at = ends_at - nodes_leave_before_end(instance_type)
        yield Moment(at=at, event=config.architecture.BLOCK_DRAINS)
    yield Moment(at=terminated, event="EC2 begins to terminate the instances that are left")
    yield Moment(
        at=ends_at,
        event="the block ends; for the next one, set its `reservation_id` and run `up` again",
    )


def _told(config: StackConfig) -> str:
    alarms = config.monitoring.alarms if config.monitoring else None
    return "; `monitoring.alarms` forwards it" if alarms is not None else ""
