"""Kinds of fault of workloads: what the containers of a job do, and what happens to their nodes.

The sandbox executes no program. Without an entry, the containers of a job succeed and print
nothing. The simulated kubelets and AWS Batch ask for the entry of each container that they start,
and the head nodes of Slurm for that of each job.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from trainyard.sandbox.faults.kind import Entry, Kind, Schedule

if TYPE_CHECKING:
    from trainyard.sandbox.faults.fault import Fault

SIGTERM_EXIT_CODE = 143
SIGKILL_EXIT_CODE = 137
"""128 and the number of the signal: https://man7.org/linux/man-pages/man1/bash.1.html"""

_SUFFIX = re.compile(r"-[0-9a-f]{8}$")
"""`run` and `job` append it to the names of Batch jobs, which are unique."""
_CHOICE = frozenset({"job", "index", "labels", "nth", "times"})
_LOGS = frozenset({"log", "stop_log", "stop_seconds"})


class OfContainer(Kind):
    """What a container of a job does; the first entry that hits it decides.

    Args:
        name: Name in the schedule.
        summary: One line of text.
        keys: Keys in addition to those that choose the container and its logs.
    """

    needs_call = False
    required = frozenset({"job"})

    def __init__(self, name: str, summary: str, *keys: str) -> None:
        self.name, self.summary = name, summary
        self.keys = _CHOICE | _LOGS | frozenset(keys)


CONTAINER_FAILS = OfContainer(
    "container-fails",
    "a container of the job prints `log`, and exits with `exit_code` (1) after `after_seconds`",
    "exit_code",
    "after_seconds",
)
CONTAINER_SUCCEEDS = OfContainer(
    "container-succeeds",
    "a container of the job prints `log`, and exits with 0 after `after_seconds`",
    "after_seconds",
)
CONTAINER_HANGS = OfContainer(
    "container-hangs", "a container of the job prints `log`, and runs until it is stopped"
)
NODE_LOST = OfContainer(
    "node-lost",
    "the node of a container of the job fails `after_seconds` after its start, and is terminated",
    "after_seconds",
)


KINDS_OF_CONTAINERS = (
    CONTAINER_FAILS,
    CONTAINER_SUCCEEDS,
    CONTAINER_HANGS,
    NODE_LOST,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedContainer:
    """A container that starts."""

    job: str
    """Name of the Kubernetes Job, the Batch job or the Slurm job."""
    index: int
    """Completion index of its pod, or index of its node in a Batch job."""
    labels: Mapping[str, str]
    """Labels of its pod, or tags of its Batch job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What a container does from its start to its end."""

    lines: tuple[str, ...] = ()
    """What it prints at its start."""
    ends_after: timedelta | None = timedelta()
    """Time from its start to its own end; None if it has to be stopped."""
    exit_code: int = 0
    """Exit code at that end."""
    node_lost_after: timedelta | None = None
    """Time from its start to the loss of its node; None if the node stays."""
    stop_lines: tuple[str, ...] = ()
    """What it prints when it gets SIGTERM."""
    stops_after: timedelta = timedelta()
    """Time from SIGTERM to its end."""


def course_of(
    faults: Schedule,
    container: StartedContainer,
    kinds: Collection[OfContainer] = KINDS_OF_CONTAINERS,
) -> Course | None:
    """Return what a container does that starts now; None if no entry of the schedule hits it.

    All entries of `kinds` that match the container count its start.
    """
    names = {kind.name for kind in kinds}
    hit = faults.hit(lambda each: each.kind.name in names and _is_meant(each.fault, container))
    return _course(hit) if hit else None


def is_named(pattern: str, job: str) -> bool:
    """Return whether the pattern of an entry matches the name of a job."""
    names = {job, _SUFFIX.sub("", job)}
    return any(fnmatchcase(name, pattern) for name in names)


def _is_meant(fault: Fault, container: StartedContainer) -> bool:
    labels = fault.labels or {}
    return (
        is_named(fault.job or "", container.job)
        and fault.index in (None, container.index)
        and labels.items() <= container.labels.items()
    )


def _course(hit: Entry) -> Course:
    fault, kind = hit.fault, hit.kind
    after = timedelta(seconds=fault.after_seconds)
    ends = kind in (CONTAINER_FAILS, CONTAINER_SUCCEEDS)
    return Course(
        lines=fault.log.lines if fault.log else (),
        ends_after=after if ends else None,
        exit_code=(fault.exit_code or 1) if kind is CONTAINER_FAILS else 0,
        node_lost_after=after if kind is NODE_LOST else None,
        stop_lines=fault.stop_log.lines if fault.stop_log else (),
        stops_after=timedelta(seconds=fault.stop_seconds),
    )
