"""Run a program that ends with its parent: `die_with_parent.py PARENT_PID PROGRAM …`.

Linux sends the signal when the *thread* that started the process ends, so that thread must live as
long as the parent (`trainyard.sandbox.processes.Spawner` has one). Other systems have no such
signal; there the next start of the sandbox ends leftover processes.

This is a separate program and not a function between fork and exec, because the parent has threads:
code between fork and exec can deadlock on a lock that another thread held.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
"""From linux/prctl.h, see prctl(2)."""


def main(arguments: list[str]) -> None:
    """Request the signal, then execute the program."""
    parent, program = int(arguments[0]), arguments[1:]
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent ended before the request
            sys.exit(1)
    os.execvp(program[0], program)  # noqa: S606 - that is what this program is for


if __name__ == "__main__":
    main(sys.argv[1:])
