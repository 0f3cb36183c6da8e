"""What `job` is asked for, and how `job --submit --wait` waits for a job."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tools.cli import failures
from tools.workspace.stack_files import StackFile

POLL_SECONDS = 5
START_LIMIT_MINUTES = 30.0
"""Default time that a job may wait for its nodes."""
QUIET_SECONDS = 60.0
"""Time without an explanation by the scheduler after which the cause is looked up."""


@dataclass(frozen=True, slots=True)
class JobWait:
    """How to wait for a job."""

    start_limit_minutes: float = START_LIMIT_MINUTES
    """Time until it must run; the job itself limits the run time."""
    pause: Callable[[float], object] = time.sleep
    """Sleeps between two polls."""
    now: Callable[[], float] = time.monotonic
    """Seconds on a monotonic clock."""


@dataclass(frozen=True, slots=True)
class RequestedJob:
    """The arguments of `job`."""

    stack_file: StackFile
    name: str
    """One of the jobs of the stack's kind, `tools.jobs.names`."""
    nodes: int | None
    """Number of nodes; None for the default of the kind."""
    options: Mapping[str, Any]
    """Values of the options of the stack's kind, by option; None if not given."""
    submit: bool
    """Whether to submit the job; else it is printed or written."""
    wait: JobWait | None
    """How to wait for its end; None to return at once."""
    sandbox: bool
    """Whether the cluster is in the sandbox."""


def requested_wait(*, submit: bool, wait: bool, minutes: float | None) -> JobWait | None:
    """Return how to wait for the options of `job`; None without `--wait`.

    Raises:
        WrongUseError: an option lacks the one that it belongs to.
    """
    if wait and not submit:
        raise failures.WrongUseError("--wait requires --submit")
    if minutes is not None and not wait:
        raise failures.WrongUseError("--wait-minutes requires --wait")
    limit = START_LIMIT_MINUTES if minutes is None else minutes
    return JobWait(start_limit_minutes=limit) if wait else None
