"""Slurm jobs that the schedule of faults names: they print recorded logs, and run no program.

All other jobs really run. The stand-in for `sbatch` asks for the program of each job.
"""

from __future__ import annotations

import shlex

from sandbox.faults.containers import (
    KINDS_OF_CONTAINERS,
    SIGTERM_EXIT_CODE,
    Course,
    StartedContainer,
    course_of,
    is_named,
)
from sandbox.faults.kind import Schedule

_NO_LOST_NODES = "the sandbox loses no nodes of Slurm: omit the entry node-lost"


def recorded_program(faults: Schedule, job: str) -> str | None:
    """Return what a job runs that is submitted now, in Bash; None if no entry names the job.

    As with containers, a job whose entries hit other starts succeeds and prints nothing. `index` is
    that of the first node, on which Slurm runs the script of a job.
    """
    started = StartedContainer(job=job, index=0, labels={})
    entries = [each for kind in KINDS_OF_CONTAINERS for each in faults.of_kind(kind.name)]
    if not any(is_named(each.fault.job or "", job) for each in entries):
        return None
    return _program(course_of(faults, started) or Course())


def _program(course: Course) -> str:
    if course.node_lost_after is not None:
        return f"echo {shlex.quote(_NO_LOST_NODES)} >&2\nexit 1\n"
    ends = "infinity" if course.ends_after is None else f"{course.ends_after.total_seconds():g}"
    stops = f"{course.stops_after.total_seconds():g}"
    stop = f"{_printed(course.stop_lines)}sleep {stops}\nexit {SIGTERM_EXIT_CODE}"
    # Slurm sends SIGTERM to all processes of a job, and `sleep` ignores it. Bash handles it during
    # `wait`, and not before the end of a program that it runs.
    return (
        f"trap '' TERM\nsleep {ends} &\ntrap {shlex.quote(stop)} TERM\n"
        f"{_printed(course.lines)}wait $!\nexit {course.exit_code}\n"
    )


def _printed(lines: tuple[str, ...]) -> str:
    return f"printf '%s\\n' {shlex.quote(chr(10).join(lines))}\n" if lines else ""
