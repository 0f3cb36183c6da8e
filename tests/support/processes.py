"""Processes that a test starts and looks for."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any


def spawn(
    argv: Sequence[str], *, name: str, log_path: Path, env: Mapping[str, str] | None = None
) -> subprocess.Popen[Any]:
    """Start a process with the daemon's arguments, without the daemon's safety net.

    The test that starts it has to end it; `name` identifies it in the logs of the test.
    """
    with log_path.open("ab") as log:
        return subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(env or {})},
        )


def processes_below(directory: Path) -> list[str]:
    """Return the command lines of running processes that name a directory."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it ended meanwhile
        if str(directory) in command:
            found.append(command)
    return found


def descendants(pid: int) -> list[int]:
    """Return the ids of all descendants of a process, of which any can end at any time."""
    children: list[int] = []
    # Linux lists the children of each thread, and the engine has many threads.
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # the thread has ended
            children += map(int, path.read_text("utf-8").split())
    return [*children, *(below for child in children for below in descendants(child))]


def free_port() -> int:
    """Return a TCP port of this machine on which no process listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


PATIENCE = 300.0
"""Seconds after which something that a test waits for will not happen, on the busiest machine."""


def until(condition: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Return as soon as ``condition()`` holds; fail if it does not within ``seconds``."""
    pause = threading.Event()
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds:.0f} s in vain for: {what}")
        pause.wait(0.05)
