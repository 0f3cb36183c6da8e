"""The time limit of a job of `run`: its own, or the end of the Capacity Block of its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import Any

from trainyard.cli import console
from trainyard.components import clock
from trainyard.components.capacity.lookup import look_up_reservation
from trainyard.components.config.reservations import CapacityBlock
from trainyard.jobs.time_limit import TimeLimit, plan_time_limit
from trainyard.schedulers.scheduler import PlannedProgram
from trainyard.stack_files.stack_config import config_of
from trainyard.workspace.target import Target


def time_limit_of(planned: PlannedProgram[Any], target: Target, *, submit: bool) -> TimeLimit:
    """Return the time that the nodes of a program leave it, and tell the user.

    Args:
        planned: The program and its nodes.
        target: The stack and its account.
        submit: Whether the job is submitted, so that the account may be read.

    Raises:
        JobError: the nodes leave too soon.
        WrongUseError: there are no credentials to read the end of the block.
    """
    asked_minutes, nodes_leave_before = planned.time_limit_minutes, planned.nodes_leave_before
    reservations = config_of(target.stack_file).reservations
    options = [each.purchase_option for each in planned.capacities]
    named = {option: reservations.get(option) for option in options}
    blocks = {name: each for name, each in named.items() if isinstance(each, CapacityBlock)}
    if not blocks:
        return TimeLimit(minutes=asked_minutes)
    # The time is that of the account, which a sandbox can advance.
    with target.access() if submit else nullcontext():
        ends = [
            _read_end(target, name, block) if block.ends_at is None and submit else block.ends_at
            for name, block in blocks.items()
        ]
        limit = plan_time_limit(
            asked_minutes,
            _first_end([each for each in ends if each is not None], nodes_leave_before),
            nodes_leave_before=nodes_leave_before,
            now=clock.now(),
        )
    if limit.message:
        console.progress(limit.message)
    return limit


def _first_end(ends: Sequence[datetime], nodes_leave_before: timedelta) -> datetime | None:
    """Return the first end that is still to come, or else the last one."""
    to_come = [each for each in ends if each - nodes_leave_before > clock.now()]
    return min(to_come) if to_come else max(ends, default=None)


def _read_end(target: Target, name: str, block: CapacityBlock) -> datetime | None:
    """Return the end of a Capacity Block in the account; None if it cannot be read."""
    found = look_up_reservation(target.reader(), block.reservation_id)
    if found is None or found.ends_at is None:
        console.progress(
            f"the end of the Capacity Block {block.reservation_id} cannot be read, so the job has "
            f"no time limit for it; set `reservations.{name}.ends_at`"
        )
        return None
    return found.ends_at
