"""What `capacity search` asks EC2 for, and what EC2 would refuse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from trainyard.components.catalog.capacity_blocks import (
    DURATIONS,
    LATEST_START,
    MOST_INSTANCES,
    MOST_INSTANCES_OF_ALL_BLOCKS,
    ULTRASERVERS,
    is_duration,
)
from trainyard.components.catalog.instance_types import (
    INSTANCE_TYPES,
    UnknownInstanceTypeError,
    instance_type,
)
from trainyard.components.catalog.regions import can_be_region, nearest_region
from trainyard.components.config.problems import Problem

BLOCKS = "capacity-block"
"""The usage class of types that EC2 sells in Capacity Blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """The options of a search."""

    instance_type: str
    """An instance type, or the type of an UltraServer."""
    nodes: int
    """Instances or UltraServers."""
    days: int
    earliest: datetime | None = None
    """Earliest start; None for now."""
    latest: datetime | None = None
    """Latest end; None for any."""
    regions: tuple[str, ...]

    @property
    def is_ultraserver(self) -> bool:
        """Whether it is about UltraServers."""
        return self.instance_type in ULTRASERVERS

    def parameters(self) -> dict[str, Any]:
        """Return the arguments of DescribeCapacityBlockOfferings."""
        what = "Ultraserver" if self.is_ultraserver else "Instance"
        found: dict[str, Any] = {
            f"{what}Type": self.instance_type,
            f"{what}Count": self.nodes,
            "CapacityDurationHours": self.days * 24,
        }
        if self.earliest is not None:
            found["StartDateRange"] = self.earliest
        if self.latest is not None:
            found["EndDateRange"] = self.latest
        return found


def moment(text: str) -> datetime:
    """Return the time of `2026-12-01` or `2026-12-01T09:00`, local unless it has an offset.

    Raises:
        ValueError: it is neither.
    """
    return datetime.fromisoformat(text).astimezone()


def request_problems(request: SearchRequest, now: datetime) -> Iterator[Problem]:
    """Yield everything that EC2 would refuse."""
    yield from _type_problems(request.instance_type)
    if not 1 <= request.nodes <= MOST_INSTANCES:
        yield Problem(
            path="--nodes",
            problem="a Capacity Block has at most 64 instances",
            found=request.nodes,
            allowed=f"1 to {MOST_INSTANCES}",
            remedy="search for fewer nodes; a stack can use several blocks, with at most "
            f"{MOST_INSTANCES_OF_ALL_BLOCKS} instances in all",
        )
    if not is_duration(request.days):
        yield Problem(
            path="--days",
            problem="EC2 has no Capacity Blocks of this duration",
            found=request.days,
            allowed=DURATIONS,
            remedy=f"use --days {_nearest_duration(request.days)}",
        )
    yield from _date_problems(request, now)
    for region in request.regions:
        if not can_be_region(region):
            yield Problem(
                path="--regions",
                problem="this is not an AWS region",
                found=region,
                remedy=f"use {nearest_region(region) or 'a region such as us-west-2'}",
            )


def _type_problems(name: str) -> Iterator[Problem]:
    sold = [each for each, found in INSTANCE_TYPES.items() if BLOCKS in found.usage_classes]
    allowed = ", ".join((*sold, *ULTRASERVERS))
    if name in ULTRASERVERS:
        return
    try:
        known = instance_type(name)
    except UnknownInstanceTypeError as error:
        near = [each for each in error.nearest if each in sold]
        yield Problem(
            path="--type",
            problem="EC2 has no such instance type",
            found=name,
            allowed=allowed,
            remedy=f"use {near[0]}" if near else "use one of these types",
        )
        return
    if BLOCKS not in known.usage_classes:
        yield Problem(
            path="--type",
            problem="EC2 sells no Capacity Blocks of this instance type",
            found=name,
            allowed=allowed,
            remedy="use one of these types, or an On-Demand Capacity Reservation",
        )


def _date_problems(request: SearchRequest, now: datetime) -> Iterator[Problem]:
    start = request.earliest
    # Today's date is the start of the day.
    if start is not None and start < now - timedelta(days=1):
        yield Problem(
            path="--from",
            problem="this date is over",
            found=start.isoformat(),
            remedy="use a later date, or remove the option to search from now",
        )
    if start is not None and start > now + LATEST_START:
        yield Problem(
            path="--from",
            problem="Capacity Blocks start within eight weeks",
            found=start.isoformat(),
            allowed=f"until {(now + LATEST_START).astimezone():%Y-%m-%d}",
            remedy="use an earlier date, or search again later",
        )
    first = max(start or now, now)
    # A block that starts today may be up to a day shorter than the duration.
    if request.latest is not None and request.latest < first + timedelta(days=request.days - 1):
        yield Problem(
            path="--to",
            problem=f"no block of {request.days} days from {first:%Y-%m-%d} ends by then",
            found=request.latest.isoformat(),
            remedy=f"use {(first + timedelta(days=request.days + 1)).astimezone():%Y-%m-%d} or "
            "later, or fewer days",
        )


def _nearest_duration(days: int) -> int:
    return min((each for each in range(1, 183) if is_duration(each)), key=lambda d: abs(d - days))
