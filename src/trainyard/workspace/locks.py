"""Engine locks: removed if the process that holds them is dead, respected if it is alive.

A killed engine leaves its lock behind, and every later command refuses to start until someone runs
`pulumi cancel`. The lock names the process, so the check can be automated. Locks of a `file://`
backend are read before the engine starts; those of other backends are found in the engine's error
messages.

Source: https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/backend/diy/lock.go
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trainyard.components.config.pulumi_command import pulumi_command
from trainyard.workspace.sidecars import ATTRIBUTES_SUFFIX

_LOCKED = "the stack is currently locked by"
_LOCK = re.compile(r"created by .+@(\S+) \(pid (\d+)\) at (\S+)")
"""The engine's message for a lock in a DIY backend."""
_CONFLICT = "/troubleshooting/common-issues/update-conflicts/"
"""The engine's message for a lock in a service backend.
https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/backend/backenderr/backenderr.go"""


class StackLockedError(Exception):
    """Another command holds the lock of the stack; the message names its process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """The process that holds a lock."""

    pid: int
    """0 if unknown."""
    hostname: str
    since: str
    command: str = ""
    """Such as `up`; empty if unknown."""

    @property
    def is_here(self) -> bool:
        """Whether it runs on this machine."""
        return self.hostname == socket.gethostname()

    @property
    def described(self) -> str:
        """Description for messages."""
        command = f"`{self.command}`, " if self.command else ""
        process = f"process {self.pid} on {self.hostname} " if self.pid else ""
        return f"{command}{process}since {self.since}"


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock file."""

    path: Path
    holder: Holder
    """The process that created it."""

    @property
    def is_dead(self) -> bool:
        """Whether the engine that created the lock has certainly ended."""
        return _is_gone(self.holder)


def clear_dead_locks(directory: Path, *, stack: str) -> list[Lock]:
    """Remove and return the locks that a killed engine left behind.

    Raises:
        StackLockedError: a lock belongs to a running engine or to another machine.
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
        # The engine died while writing the file, so it names no process that can still run.
        return Holder(pid=0, hostname=socket.gethostname(), since="an unknown time")


def _is_engine(pid: int) -> bool:
    """Return whether the process is a running Pulumi engine, not a later process with that id."""
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
    """Return a message that names the lock holders and says what to do."""
    first = living[0]
    stop = ""
    if first.pid:
        where = "" if first.is_here else f" on {first.hostname}"
        stop = f", or stop it with `kill -INT {first.pid}`{where},"
    return (
        f"another command uses stack {stack}: {', '.join(each.described for each in living)}; wait "
        f"until it ends{stop} and run this again; nothing was changed"
    )


def locked_out(said: str, *, stack: str) -> str | None:
    """Return a message if this engine output reports a lock, else None."""
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
            f"a Pulumi engine that no longer runs left a lock on stack {stack}: {gone}; nothing "
            "was changed. Remove the lock, and run this again:\n"
            f"  {_cancel(stack)}"
        )
    if _CONFLICT in said:
        return (
            f"your Pulumi backend reports another update of stack {stack}; nothing was changed. "
            "Wait until it ends, and run this again; if it has already ended and left its lock:\n"
            f"  {_cancel(stack)}"
        )
    return None


def _cancel(stack: str) -> str:
    return pulumi_command(f"cancel --stack {stack} --yes")
