"""The time limit of a job, and the end of the Capacity Block of its nodes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.jobs.nodes import JobError
from trainyard.jobs.time_limit import GRACE_SECONDS, LEAST_MINUTES, TimeLimit, plan_time_limit

END = datetime(2026, 11, 27, 11, 30, tzinfo=UTC)
SCALED_IN, TERMINATED = timedelta(minutes=40), timedelta(minutes=30)


def before_the_end(**ago: int) -> datetime:
    return END - timedelta(**ago)


@pytest.mark.parametrize(
    ("asked", "leave_before", "now", "minutes"),
    [
        (None, SCALED_IN, before_the_end(hours=10), 600 - 45),
        (None, TERMINATED, before_the_end(hours=10), 600 - 35),
        (90, SCALED_IN, before_the_end(hours=10), 90),
        (600, SCALED_IN, before_the_end(hours=10), 600 - 45),
        (None, SCALED_IN, before_the_end(minutes=50), LEAST_MINUTES),
    ],
)
def test_a_job_ends_before_its_nodes_leave(
    asked: int | None, leave_before: timedelta, now: datetime, minutes: int
) -> None:
    found = plan_time_limit(asked, END, nodes_leave_before=leave_before, now=now)
    assert found.minutes == minutes
    assert found.stops_at == END - leave_before - timedelta(seconds=GRACE_SECONDS)


def test_the_user_learns_when_the_program_is_stopped() -> None:
    now = before_the_end(hours=10)
    found = plan_time_limit(None, END, nodes_leave_before=SCALED_IN, now=now)
    assert found.message == (
        "the Capacity Block ends at 2026-11-27 11:30 UTC, and its nodes leave from 2026-11-27 10:50"
        " UTC: the program gets SIGTERM at 2026-11-27 10:45 UTC at the latest, and has 5 "
        "minutes for a checkpoint"
    )


@pytest.mark.parametrize("asked", [None, 90])
def test_other_nodes_leave_only_the_limit_of_the_user(asked: int | None) -> None:
    found = plan_time_limit(asked, None, nodes_leave_before=SCALED_IN, now=END)
    assert found == TimeLimit(minutes=asked)


@pytest.mark.parametrize("ago", [{"minutes": 49}, {"minutes": 1}, {"minutes": -600}])
def test_a_job_that_cannot_start_before_is_refused(ago: dict[str, int]) -> None:
    with pytest.raises(JobError, match="no time to start before; extend the block"):
        plan_time_limit(1, END, nodes_leave_before=SCALED_IN, now=before_the_end(**ago))


@given(st.integers(50 * 60, 90 * 86_400), st.none() | st.integers(1, 10**6))
def test_no_job_runs_when_the_nodes_leave(seconds: int, asked: int | None) -> None:
    now = before_the_end(seconds=seconds)
    found = plan_time_limit(asked, END, nodes_leave_before=SCALED_IN, now=now)
    assert found.minutes is not None
    killed_at = now + timedelta(minutes=found.minutes, seconds=GRACE_SECONDS)
    assert killed_at <= END - SCALED_IN
    assert asked is None or found.minutes <= asked
