"""When a job must end: at its own time limit, or before the nodes of a Capacity Block leave.

At that time, the program gets SIGTERM; after `GRACE_SECONDS`, it is killed. The modules of EKS,
Slurm and AWS Batch only render what is decided here. The job may start later than it is submitted,
so that all of them find out what is left when it starts.

Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-capacity-blocks.html
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from trainyard.jobs.nodes import JobError

GRACE_SECONDS = 300
"""Time between SIGTERM and SIGKILL, for a checkpoint."""
TIMED_OUT = 124
"""Exit code of a node whose program was ended at its time limit: that of `timeout`.
https://www.gnu.org/software/coreutils/manual/html_node/timeout-invocation.html"""
LEAST_MINUTES = 5
"""A job that has less time would end before it has done anything: images take minutes to pull."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLimit:
    """When the program of a job gets SIGTERM at the latest."""

    minutes: int | None
    """Longest run; None without a limit."""
    stops_at: datetime | None = None
    """Time after which the nodes of a Capacity Block leave, in UTC; None if they stay. A job that
    has waited in a queue has less than `minutes`."""
    message: str | None = None
    """What the block means for the job, for the user."""


def plan_time_limit(
    asked_minutes: int | None,
    block_ends_at: datetime | None,
    *,
    nodes_leave_before: timedelta,
    now: datetime,
) -> TimeLimit:
    """Return the limit of a job that is submitted now.

    Args:
        asked_minutes: The user's limit.
        block_ends_at: End of the Capacity Block whose nodes run the job; None for other nodes, or
            if it is not known.
        nodes_leave_before: How long before the end of the block its nodes leave.
        now: The time, with its zone, like `block_ends_at`.

    Raises:
        JobError: the nodes leave too soon.
    """
    if block_ends_at is None:
        return TimeLimit(minutes=asked_minutes)
    leave_at = block_ends_at - nodes_leave_before
    stops_at = leave_at - timedelta(seconds=GRACE_SECONDS)
    left = (stops_at - now) // timedelta(minutes=1)
    when = f"the Capacity Block ends at {_text(block_ends_at)}, and its nodes leave from"
    if left < LEAST_MINUTES:
        raise JobError(
            f"{when} {_text(leave_at)}: a job has no time to start before; extend the block, or "
            "run it on other nodes"
        )
    return TimeLimit(
        minutes=left if asked_minutes is None else min(asked_minutes, left),
        stops_at=stops_at,
        message=f"{when} {_text(leave_at)}: the program gets SIGTERM at {_text(stops_at)} at the "
        f"latest, and has {GRACE_SECONDS // 60} minutes for a checkpoint",
    )


def _text(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
