"""Locks of a `file://` backend: cleared when their process is dead, respected when it lives.

An engine that is killed leaves its lock behind, and every later command refuses to start until
somebody runs `pulumi cancel`. The lock names the process, so nobody has to ask.
"""

from __future__ import annotations

import json
import os
import socket
from dataclasses import dataclass
from pathlib import Path


class StackLockedError(Exception):
    """Another command works on the stack; the message names its process."""


@dataclass(frozen=True, slots=True)
class Lock:
    """One lock file."""

    path: Path
    pid: int
    hostname: str
    since: str

    @property
    def is_dead(self) -> bool:
        """Whether the engine that made the lock is known to be gone."""
        return self.hostname == socket.gethostname() and not _is_engine(self.pid)


def locks(directory: Path) -> list[Lock]:
    """Return the locks of one stack, given the directory of its lock files."""
    return [_lock(path) for path in sorted(directory.glob("*.json"))]


def clear_dead_locks(directory: Path, *, stack: str) -> list[Lock]:
    """Remove the locks that a killed engine left behind, and return them.

    Raises:
        StackLockedError: a lock belongs to an engine that runs, or to another machine.
    """
    found = locks(directory)
    living = [lock for lock in found if not lock.is_dead]
    if living:
        raise StackLockedError(_locked_message(living, stack))
    for lock in found:
        lock.path.unlink(missing_ok=True)
        lock.path.with_name(lock.path.name + ".attrs").unlink(missing_ok=True)
    return found


def _lock(path: Path) -> Lock:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Lock(path, int(content["pid"]), str(content["hostname"]), str(content["timestamp"]))
    except (ValueError, KeyError, TypeError):
        # The engine died while it wrote the file; it names no process that could still run.
        return Lock(path, 0, socket.gethostname(), "an unknown time")


def _is_engine(pid: int) -> bool:
    """Return whether the process runs and is a Pulumi engine, not a later process of that id."""
    if pid <= 0:
        return False
    process = Path("/proc") / str(pid)
    if not Path("/proc/self").exists():
        return _exists(pid)
    try:
        return b"pulumi" in (process / "cmdline").read_bytes().split(b"\0")[0]
    except OSError:
        return False


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _locked_message(living: list[Lock], stack: str) -> str:
    holders = ", ".join(
        f"process {lock.pid} on {lock.hostname} since {lock.since}" for lock in living
    )
    return (
        f"another command works on stack {stack}: {holders}; "
        f"wait until it ends, or stop it with `kill -INT {living[0].pid}`, and run this again"
    )
