"""Locks of the engine: cleared when their process is dead, respected when it lives.

An engine that is killed leaves its lock behind, and every later command refuses to start until
somebody runs `pulumi cancel`. The lock names the process, so nobody has to ask. Those of a `file://`
backend are read before the engine starts; those of others come to light in what it says.

Source: https://github.com/pulumi/pulumi/blob/v3.259.0/pkg/backend/diy/lock.go
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.workspace.sidecars import ATTRIBUTES_SUFFIX

_LOCKED = "the stack is currently locked by"
_LOCK = re.compile(r"created by .+@(\S+) \(pid (\d+)\) at (\S+)")
"""What the engine says of a lock of a backend that is storage."""
_CONFLICT = "/troubleshooting/common-issues/update-conflicts/"
"""What the engine says of the lock of a backend that is a service.
https://github.com/pulumi/pulumi/blob/v3.259.0/pkg/backend/backenderr/backenderr.go"""


class StackLockedError(Exception):
    """Another command works on the stack; the message names its process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who works on a stack."""

    pid: int
    """0 where it is not known."""
    hostname: str
    since: str
    command: str = ""
    """Where it is known, such as `up`."""

    @property
    def is_here(self) -> bool:
        """Whether it runs on this machine."""
        return self.hostname == socket.gethostname()

    @property
    def described(self) -> str:
        """For people."""
        command = f"`{self.command}`, " if self.command else ""
        process = f"process {self.pid} on {self.hostname} " if self.pid else ""
        return f"{command}{process}since {self.since}"


@dataclass(frozen=True, slots=True)
class Lock:
    """One lock file."""

    path: Path
    holder: Holder
    """Who made it."""

    @property
    def is_dead(self) -> bool:
        """Whether the engine that made the lock is known to be gone."""
        return _is_gone(self.holder)


def clear_dead_locks(directory: Path, *, stack: str) -> list[Lock]:
    """Remove the locks that a killed engine left behind, and return them.

    Raises:
        StackLockedError: a lock belongs to an engine that runs, or to another machine.
    """
    found = [Lock(path, _holder(path)) for path in sorted(directory.glob("*.json"))]
    living = [lock.holder for lock in found if not lock.is_dead]
    if living:
        raise StackLockedError(locked_message(living, stack))
    for lock in found:
        lock.path.unlink(missing_ok=True)
        lock.path.with_name(lock.path.name + ATTRIBUTES_SUFFIX).unlink(missing_ok=True)
    return found


def _holder(path: Path) -> Holder:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        pid, hostname = int(content["pid"]), str(content["hostname"])
        return Holder(pid=pid, hostname=hostname, since=str(content["timestamp"]))
    except (ValueError, KeyError, TypeError):
        # The engine died while it wrote the file; it names no process that could still run.
        return Holder(pid=0, hostname=socket.gethostname(), since="an unknown time")


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


def _is_gone(holder: Holder) -> bool:
    return holder.is_here and not _is_engine(holder.pid)


def locked_message(living: Sequence[Holder], stack: str) -> str:
    """Return for people who works on a stack, and what to do."""
    first = living[0]
    stop = ""
    if first.pid:
        where = "" if first.is_here else f" on {first.hostname}"
        stop = f", or stop it with `kill -INT {first.pid}`{where},"
    return (
        f"another command works on stack {stack}: {', '.join(each.described for each in living)}; "
        f"wait until it ends{stop} and run this again; nothing was changed"
    )


def locked_out(said: str, *, stack: str) -> str | None:
    """Return for people what keeps an engine from its work that has said this; None if no lock."""
    if _LOCKED in said:
        found = [
            Holder(pid=int(pid), hostname=host, since=since)
            for host, pid, since in _LOCK.findall(said)
        ]
        living = [each for each in found if not _is_gone(each)]
        if living:
            return locked_message(living, stack)
        gone = ", ".join(f"process {each.pid}" for each in found)
        return (
            f"an engine that is gone left its lock on stack {stack} behind: {gone}; nothing was "
            f"changed. Clear the lock, and run this again:\n  pulumi cancel --stack {stack} --yes"
        )
    if _CONFLICT in said:
        return (
            f"another update works on stack {stack}, says your Pulumi backend; nothing was "
            "changed. Wait until it ends, and run this again; where it ended long ago and left its "
            f"lock behind:\n  pulumi cancel --stack {stack} --yes"
        )
    return None
