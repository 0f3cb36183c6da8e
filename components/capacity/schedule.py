"""Scheduled sizes of node groups: a Capacity Block is available only for a limited time.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks.html
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from trainyard.components.capacity.plan import SchedulePlan
from trainyard.components.catalog.capacity_blocks import (
    EKS_SCALES_IN_BEFORE_END,
    TERMINATED_BEFORE_END,
    ULTRASERVERS_TERMINATED_BEFORE_END,
    terminated_before_end,
)
from trainyard.components.config.node_pool import NodeSizes
from trainyard.components.config.reservations import CapacityBlock, Reservation

DRAIN_TIME = EKS_SCALES_IN_BEFORE_END - TERMINATED_BEFORE_END
"""How long nodes have to drain before EC2 begins to terminate them: as long as EKS gives them."""


def nodes_leave_before_end(instance_type: str) -> timedelta:
    """Return how long before the end of a block the scheduler takes the nodes of a type.

    That is 40 minutes, as EKS does it, and 70 for UltraServers. docs/capacity.md, "The end of a
    block", lists what happens when.
    """
    return terminated_before_end(instance_type) + DRAIN_TIME


def in_minutes(lead: timedelta) -> str:
    """Return a time before the end of a block as text: `40 minutes`."""
    return f"{lead // timedelta(minutes=1)} minutes"


def minutes_before_end(instance_type: str) -> tuple[str, str]:
    """Return as text when the nodes of a type leave, and when EC2 begins to terminate them."""
    leads = (nodes_leave_before_end(instance_type), terminated_before_end(instance_type))
    return in_minutes(leads[0]), in_minutes(leads[1])


def leave_of_any_type() -> str:
    """Return as text when nodes leave, for messages that know no type."""
    leave = in_minutes(TERMINATED_BEFORE_END + DRAIN_TIME)
    ultraservers_leave = in_minutes(ULTRASERVERS_TERMINATED_BEFORE_END + DRAIN_TIME)
    return f"{leave} before its end, or {ultraservers_leave} for UltraServers"


def plan_schedule(
    sizes: NodeSizes,
    reservation: Reservation | None,
    now: datetime,
    *,
    instance_type: str,
    managed: bool = False,
) -> SchedulePlan:
    """Return the sizes to register now, and the scheduled changes.

    Before a block starts, and from `nodes_leave_before_end` of its type, the desired size is 0.
    While it is active, the sizes of the stack file apply. `now` must be timezone-aware.

    EKS scales managed groups in, except UltraServers, for which it would be too late. At the start
    of the block, a scheduled action sets the desired size of the Auto Scaling group, as EKS
    documents. The minimum size does not change until the next `up`.
    """
    if not isinstance(reservation, CapacityBlock):
        return _unlimited(sizes)
    starts_at, ends_at = _utc(reservation.starts_at), _utc(reservation.ends_at)
    before_end = nodes_leave_before_end(instance_type)
    down = ends_at - before_end if ends_at else None
    plan = _in_block(sizes, starts_at, ends_at, down, now, managed=managed)
    if managed and before_end <= EKS_SCALES_IN_BEFORE_END:
        plan = replace(plan, scale_down_at=None)
    return replace(plan, starts_at=starts_at, ends_at=ends_at)


def _in_block(
    sizes: NodeSizes,
    starts_at: datetime | None,
    ends_at: datetime | None,
    down: datetime | None,
    now: datetime,
    *,
    managed: bool,
) -> SchedulePlan:
    if ends_at is not None and down is not None and now >= down:
        return _at_the_end(sizes, ends_at, now)
    if starts_at is not None and now < starts_at:
        return _before_the_start(sizes, starts_at, down, managed=managed)
    if ends_at is None or down is None:
        return _unlimited(sizes)
    return SchedulePlan(
        state="active",
        minimum=sizes.minimum,
        desired=sizes.desired,
        maximum=sizes.maximum,
        scale_down_at=down,
        message=(
            f"the Capacity Block ends at {_text(ends_at)}; its nodes are scaled in at {_text(down)}"
        ),
    )


def most_at_once(pools: Sequence[tuple[SchedulePlan, int]]) -> int:
    """Return the most nodes of pools that exist at the same time.

    Args:
        pools: The schedule of each pool, and its number of nodes while its block is active.
    """
    first = datetime.min.replace(tzinfo=UTC)
    starts = {schedule.starts_at or first for schedule, _ in pools}
    return max(
        (
            sum(
                nodes
                for schedule, nodes in pools
                if (schedule.starts_at or first) <= moment
                and (schedule.ends_at is None or moment < schedule.ends_at)
            )
            for moment in starts
        ),
        default=0,
    )


def _unlimited(sizes: NodeSizes) -> SchedulePlan:
    return SchedulePlan(
        state="unlimited", minimum=sizes.minimum, desired=sizes.desired, maximum=sizes.maximum
    )


def _before_the_start(
    sizes: NodeSizes, starts_at: datetime, down: datetime | None, *, managed: bool
) -> SchedulePlan:
    return SchedulePlan(
        state="scheduled",
        minimum=0,
        desired=0,
        maximum=sizes.maximum,
        scale_up_at=starts_at,
        scale_up_minimum=0 if managed else sizes.minimum,
        scale_up_desired=sizes.desired,
        scale_down_at=down,
        wait_for_capacity=False,
        message=(
            f"the Capacity Block starts at {_text(starts_at)}; until then there are no nodes, then "
            f"{sizes.desired} launch automatically"
        ),
    )


def _at_the_end(sizes: NodeSizes, ends_at: datetime, now: datetime) -> SchedulePlan:
    state: Literal["ending", "expired"] = "expired" if now >= ends_at else "ending"
    verb = "ended" if state == "expired" else "ends"
    return SchedulePlan(
        state=state,
        minimum=0,
        desired=0,
        maximum=sizes.maximum,
        wait_for_capacity=False,
        message=f"the Capacity Block {verb} at {_text(ends_at)}; its nodes were scaled in",
    )


def _utc(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
