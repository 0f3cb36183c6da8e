"""Check whether a process that a file names is still the same process.

A process id alone is not sufficient, because the system reuses it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """Unique identity of a process: its id and its start time in the system's format."""

    pid: int
    start_time: str

    @property
    def is_alive(self) -> bool:
        """Whether the process is running; a zombie is not."""
        return start_time(self.pid) == self.start_time

    def send(self, number: signal.Signals) -> bool:
        """Send a signal; return whether the process existed."""
        if not self.is_alive:
            return False
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            return False
        return True

    def reap(self) -> None:
        """Remove it from the process table if it has ended and this process started it."""
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, os.WNOHANG)


def own_identity() -> ProcessIdentity:
    """Return the identity of this process."""
    return identity_of(os.getpid())


def identity_of(pid: int) -> ProcessIdentity:
    """Return the identity of a running process.

    Raises:
        ProcessLookupError: It does not exist.
    """
    started = start_time(pid)
    if started is None:
        raise ProcessLookupError(f"no process {pid} runs")
    return ProcessIdentity(pid, started)


def write_identity(identity: ProcessIdentity, path: Path) -> None:
    """Write an identity to a file."""
    record = {"pid": identity.pid, "start_time": identity.start_time}
    path.write_text(json.dumps(record), encoding="utf-8")


def read_identity(path: Path) -> ProcessIdentity | None:
    """Return the identity in a file; None if it does not exist or is incomplete."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return ProcessIdentity(int(record["pid"]), str(record["start_time"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def start_time(pid: int) -> str | None:
    """Return the start time of a process in a comparable form; None if it is not running."""
    if _PROC.joinpath("self/stat").exists():
        return _from_proc(pid)
    return _from_ps(pid)


def _from_proc(pid: int) -> str | None:
    try:
        stat = _PROC.joinpath(str(pid), "stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command, in parentheses, may contain any character. State is the first field after it; the
    # start time in clock ticks after boot is the 20th (proc_pid_stat(5), fields 3 and 22).
    fields = stat.rpartition(")")[2].split()
    if fields[0] in ("Z", "X"):
        return None
    return f"{_boot_id()} {fields[19]}"


@cache
def _boot_id() -> str:
    return _PROC.joinpath("sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()


def _from_ps(pid: int) -> str | None:
    # macOS has no /proc.
    result = subprocess.run(
        ["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
    )
    state, _, started = result.stdout.strip().partition(" ")
    return None if not state or state.startswith("Z") else started.strip()
