"""Run a program and end its whole process group: `supervise.py PARENT_PID PROGRAM …`.

ministack starts a process for each Lambda function and may survive SIGTERM after it has run one.
Therefore it gets its own process group, which is killed when this program is asked to end, when the
parent ends (also by `kill -9`), and when ministack ends by itself.

The handler of SIGTERM kills the group itself and takes no lock. As the threads of a killed parent
end one by one, Linux can send the signal several times, and a handler that interrupts another one
would wait forever for the lock of a `threading.Event`.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_DIE_WITH_PARENT = Path(__file__).parents[2] / "die_with_parent.py"
_POLL_SECONDS = 0.5
_PR_SET_PDEATHSIG = 1
"""From linux/prctl.h, see prctl(2)."""


def main(arguments: list[str]) -> None:
    """Run the program and kill its group at the first of the three events."""
    parent, program = int(arguments[0]), arguments[1:]
    os.setpgrp()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _kill_group)
    if sys.platform == "linux":
        # SIGTERM instead of SIGKILL: a killed process cannot end its group.
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", str(_DIE_WITH_PARENT), str(os.getpid()), *program],
    )
    while child.poll() is None and os.getppid() == parent:
        time.sleep(_POLL_SECONDS)
    _kill_group()


def _kill_group(*_: Any) -> None:
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
