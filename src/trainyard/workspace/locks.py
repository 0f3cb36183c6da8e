"""Locks of the engine and of the launcher, and files of a killed engine."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from trainyard.components.typed_command import pulumi_command
from trainyard.stack_files.files import file_bytes, file_text, lock_file

# Empty attribute files of a killed engine, which make the state unreadable.
#
# A `file://` backend keeps the attributes of each file in a second file that ends in `.attrs`. It
# truncates that file before it writes it, and only then renames the state into place. If the engine
# is killed in between, every command fails with `failed to load checkpoint: EOF`. Without the
# attribute file, the engine reads the state.
#
# Source: https://github.com/google/go-cloud/blob/master/blob/fileblob/attrs.go (`setAttrs`,
# `getAttrs`).


ATTRIBUTES_SUFFIX = ".attrs"


def remove_broken_sidecars(state_file: Path) -> list[Path]:
    """Remove and return the unreadable attribute files of a stack's state.

    This may also remove a file that an engine is writing; attribute files hold no state.
    """
    names = (state_file.name, f"{state_file.name}.bak")
    sidecars = (state_file.with_name(name + ATTRIBUTES_SUFFIX) for name in names)
    broken = [path for path in sidecars if path.exists() and not _is_whole(path)]
    for path in broken:
        path.unlink(missing_ok=True)
    return broken


def _is_whole(path: Path) -> bool:
    try:
        return isinstance(json.loads(file_bytes(path)), dict)
    except FileNotFoundError:
        return True
    except ValueError:
        return False


# Engine locks: removed if the process that holds them is dead, respected if it is alive.
#
# A killed engine leaves its lock behind, and every later command refuses to start until someone
# runs `pulumi cancel`. The lock names the process, so the check can be automated. Locks of a
# `file://` backend are read before the engine starts; those of other backends are found in the
# engine's error messages.
#
# Source: https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/backend/diy/lock.go


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
        content = json.loads(file_text(path))
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
        return b"pulumi" in file_bytes(process / "cmdline").split(b"\0")[0]
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


# A lock of the launcher that allows one command at a time to change a stack.
#
# The engine of a `file://`, `s3://` or similar backend looks for locks, writes its own and looks
# again. Two engines that start at the same moment may each find the other's lock and both stop
# (https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/backend/diy/lock.go). The steps before the
# engine starts, such as the generated project and the recovery of a killed command, have no engine
# lock. This lock covers those steps. It is a lock of the operating system, so it ends with its
# process.


_POLL_SECONDS, _MOST_BYTES = 0.05, 4096


_HELD: dict[Path, int] = {}
"""File descriptors of the locks that this process holds, by path."""


def hold_lock(path: Path, *, stack: str, command: str) -> None:
    """Lock a stack until `release_lock` or the end of this process.

    Args:
        path: The lock file; created if missing, never deleted.
        stack: Name of the stack, for the message.
        command: The command that takes the lock, such as `up`, for the message of other commands.

    Raises:
        StackLockedError: another process holds the lock; the message names it, its start time and
            what to do.
        OSError: the lock file cannot be written.
    """
    if path not in _HELD:
        _HELD[path] = _take(path, stack=stack, command=command, timeout_seconds=0)


def release_lock(path: Path) -> None:
    """Release the lock of a stack; does nothing if this process does not hold it."""
    descriptor = _HELD.pop(path, None)
    if descriptor is not None:
        os.close(descriptor)


@contextmanager
def short_lock(path: Path, *, stack: str, command: str, timeout_seconds: float) -> Iterator[None]:
    """Hold the lock while the block runs; wait up to `timeout_seconds` for another process.

    Raises:
        StackLockedError: another process still holds the lock.
        OSError: the lock file cannot be written.
    """
    descriptor = _take(path, stack=stack, command=command, timeout_seconds=timeout_seconds)
    try:
        yield
    finally:
        os.close(descriptor)


@contextmanager
def every_lock(directory: Path, *, command: str) -> Iterator[None]:
    """Hold the locks of all stacks while the block runs; does not wait.

    Args:
        directory: Directory of the lock files, each named after its stack.
        command: The command that takes the locks, such as `sandbox stop`.

    Raises:
        StackLockedError: other processes hold locks; the message names each of them.
        OSError: a lock file cannot be written.
    """
    refused: list[str] = []
    with contextlib.ExitStack() as held:
        for path in sorted(directory.glob("*.lock")):
            turn = short_lock(path, stack=path.stem, command=command, timeout_seconds=0)
            try:
                held.enter_context(turn)
            except StackLockedError as error:
                refused.append(str(error))
        if refused:
            raise StackLockedError("\n".join(refused))
        yield


def refuse_taken(path: Path, *, stack: str) -> None:
    """Raise an error if another process holds the lock; do not take the lock.

    Raises:
        StackLockedError: another process holds it.
    """
    if path in _HELD:
        return
    try:
        descriptor = lock_file(path, create=False)
    except OSError:
        return  # the lock was never used, or cannot be opened
    try:
        if not _is_ours(descriptor):
            raise StackLockedError(locked_message([_holder_of_file(descriptor)], stack))
    finally:
        os.close(descriptor)


def _take(path: Path, *, stack: str, command: str, timeout_seconds: float) -> int:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Children do not inherit the lock: it ends with this process, not with the last plugin.
    descriptor = lock_file(path, create=True)
    try:
        _wait_for(descriptor, stack, time.monotonic() + timeout_seconds)
        _sign(descriptor, command)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _wait_for(descriptor: int, stack: str, deadline: float) -> None:
    while not _is_ours(descriptor):
        if time.monotonic() >= deadline:
            raise StackLockedError(locked_message([_holder_of_file(descriptor)], stack))
        time.sleep(_POLL_SECONDS)


def _is_ours(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sign(descriptor: int, command: str) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    content = {"pid": os.getpid(), "command": command, "since": now}
    # The name in the file is optional: if the disk is full, the lock works without it.
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(content).encode(), 0)


def _holder_of_file(descriptor: int) -> Holder:
    here = socket.gethostname()
    try:
        content = json.loads(os.pread(descriptor, _MOST_BYTES, 0))
        pid, since, command = int(content["pid"]), str(content["since"]), str(content["command"])
    except (ValueError, KeyError, TypeError):
        # The process has the lock but has not written its name yet.
        return Holder(pid=0, hostname=here, since="a moment ago")
    return Holder(pid=pid, hostname=here, since=since, command=command)
