"""The time limit of a job of `run`: its own, or the end of the Capacity Block of its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, timedelta

from trainyard.cli import console
from trainyard.components import clock
from trainyard.components.account.lookup import AccountReader
from trainyard.components.capacity.plan import CapacityPlan
from trainyard.components.config.reservations import CapacityBlock
from trainyard.jobs.time_limit import plan_time_limit
from trainyard.jobs.training import TrainingRequest
from trainyard.schedulers.job_wait import RequestedJob
from trainyard.stack_files.stack_config import config_of


def limited(
    asked: RequestedJob,
    request: TrainingRequest,
    capacities: Sequence[CapacityPlan],
    nodes_leave_before: timedelta,
) -> TrainingRequest:
    """Return the program with the time that its nodes leave it, and tell the user.

    Args:
        asked: The arguments of `run`.
        request: The program.
        capacities: Capacity of the nodes; several if the scheduler chooses among Capacity Blocks.
        nodes_leave_before: How long before the end of a Capacity Block its nodes leave.

    Raises:
        JobError: the nodes leave too soon.
        WrongUseError: there are no credentials to read the end of the block.
    """
    reservations = config_of(asked.stack_file).reservations
    named = {each.purchase_option: reservations.get(each.purchase_option) for each in capacities}
    blocks = {name: each for name, each in named.items() if isinstance(each, CapacityBlock)}
    if not blocks:
        return request
    access = asked.target.access()
    # The time is that of the account, which a sandbox can advance.
    with access if asked.submit else nullcontext():
        ends = [
            _read_end(asked, name, block)
            if block.ends_at is None and asked.submit
            else block.ends_at
            for name, block in blocks.items()
        ]
        limit = plan_time_limit(
            request.time_limit_minutes,
            _first_end([each for each in ends if each is not None], nodes_leave_before),
            nodes_leave_before=nodes_leave_before,
            now=clock.now(),
        )
    if limit.message:
        console.progress(limit.message)
    return replace(request, time_limit_minutes=limit.minutes, stops_at=limit.stops_at)


def _first_end(ends: Sequence[datetime], nodes_leave_before: timedelta) -> datetime | None:
    """Return the first end that is still to come, or else the last one."""
    to_come = [each for each in ends if each - nodes_leave_before > clock.now()]
    return min(to_come) if to_come else max(ends, default=None)


def _read_end(asked: RequestedJob, name: str, block: CapacityBlock) -> datetime | None:
    """Return the end of a Capacity Block in the account; None if it cannot be read."""
    found = AccountReader(region=asked.stack_file.region).reservation(block.reservation_id)
    if found is None or found.ends_at is None:
        console.progress(
            f"the end of the Capacity Block {block.reservation_id} cannot be read, so the job has "
            f"no time limit for it; set `reservations.{name}.ends_at`"
        )
        return None
    return found.ends_at
