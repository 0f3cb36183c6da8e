"""Runs a program that ends with everything it started: `supervise.py PARENT_PID PROGRAM …`.

ministack starts a process for each Lambda function and may outlive SIGTERM when it has run one. So
it gets a process group of its own, which is killed as a whole: when this program is asked to end,
when the parent ends (also by `kill -9`), and when ministack ends by itself.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

_DIE_WITH_PARENT = Path(__file__).parents[2] / "die_with_parent.py"
_POLL_SECONDS = 0.5
_PR_SET_PDEATHSIG = 1
"""Of linux/prctl.h, see prctl(2)."""


def main(arguments: list[str]) -> None:
    """Run the program and kill its group when one of the three ends."""
    parent, program = int(arguments[0]), arguments[1:]
    ended = threading.Event()

    def end(*_: Any) -> None:
        ended.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    os.setpgrp()
    if sys.platform == "linux":
        # SIGTERM in place of SIGKILL: a process that is killed cannot end its group.
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", str(_DIE_WITH_PARENT), str(os.getpid()), *program],
    )
    while child.poll() is None and os.getppid() == parent and not ended.wait(_POLL_SECONDS):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
