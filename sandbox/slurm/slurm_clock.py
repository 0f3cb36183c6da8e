"""The clock of the sandbox in a Slurm, which has the time of the machine.

When the clock is advanced, the time limits of the jobs that run are as much shorter; Slurm ends a
job at its limit within half a minute (`PERIODIC_TIMEOUT` in
https://github.com/SchedMD/slurm/blob/slurm-22-05-8-1/src/slurmctld/controller.c). `date` on the
nodes shows the time of the account.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
from collections.abc import Iterator
from datetime import timedelta

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.slurm.cluster import SlurmCluster, SlurmError
from trainyard.sandbox.slurm.head_node import HeadNodeShell

_MINUTE = timedelta(minutes=1)
_LEFT = re.compile(r"(?:(?:(\d+)-)?(\d+):)?(\d+):\d+")
"""Time left: `[days-]hours:minutes:seconds` or `minutes:seconds`, and words such as UNLIMITED.
https://slurm.schedmd.com/squeue.html (`%L`)"""


class SlurmClock:
    """The time of a Slurm that runs, from the present time on."""

    def __init__(self, slurm: SlurmCluster, shell: HeadNodeShell) -> None:
        self._slurm = slurm
        self._shell = shell
        self._ahead = CLOCK.ahead
        self._show_time()

    def step(self) -> None:
        """Pass on the time by which the clock was advanced.

        Raises:
            SlurmError: Slurm does not respond.
        """
        passed = (CLOCK.ahead - self._ahead) // _MINUTE
        if passed <= 0:
            return
        self._ahead += passed * _MINUTE
        self._show_time()
        for job, left in self._jobs():
            less = f"TimeLimit-={min(passed, left)}"
            with contextlib.suppress(SlurmError):  # it has ended
                self._slurm.run("scontrol", "update", f"JobId={job}", less)

    def _jobs(self) -> Iterator[tuple[str, int]]:
        """Yield the ids of the jobs that run and have a limit, and their whole minutes left."""
        listed = self._slurm.run("squeue", "--noheader", "--states=running", "--format=%A %L")
        for line in listed.splitlines():
            job, left = line.split()
            found = _LEFT.fullmatch(left)
            if found:
                days, hours, minutes = (int(each or 0) for each in found.groups())
                yield job, (days * 24 + hours) * 60 + minutes

    def _show_time(self) -> None:
        seconds = int(self._ahead.total_seconds())
        date = shlex.quote(shutil.which("date") or "/bin/date")
        self._shell.add_program("date", f'#!/bin/sh\nexec {date} --date="{seconds} seconds" "$@"\n')
