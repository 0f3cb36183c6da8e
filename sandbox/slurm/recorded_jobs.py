"""Slurm jobs that the schedule of faults names: they print recorded logs, and run no program.

All other jobs really run, also those that only lose a node (`trainyard.sandbox.slurm.lost_nodes`).
The stand-in for `sbatch` asks for the program of each job.
"""

from __future__ import annotations

import shlex

from trainyard.sandbox.faults.containers import (
    CONTAINER_FAILS,
    CONTAINER_HANGS,
    CONTAINER_SUCCEEDS,
    SIGTERM_EXIT_CODE,
    Course,
    StartedContainer,
    course_of,
    is_named,
)
from trainyard.sandbox.faults.kind import Schedule

_KINDS = (CONTAINER_FAILS, CONTAINER_SUCCEEDS, CONTAINER_HANGS)


def recorded_program(faults: Schedule, job: str) -> str | None:
    """Return what a job runs that is submitted now, in Bash; None if no entry names the job.

    As with containers, a job whose entries hit other starts succeeds and prints nothing. `index` is
    that of the first node, on which Slurm runs the script of a job.
    """
    started = StartedContainer(job=job, index=0, labels={})
    entries = [each for kind in _KINDS for each in faults.of_kind(kind.name)]
    if not any(is_named(each.fault.job or "", job) for each in entries):
        return None
    return _program(course_of(faults, started, _KINDS) or Course())


def _program(course: Course) -> str:
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
