"""A lock of the launcher that allows one command at a time to change a stack.

The engine of a `file://`, `s3://` or similar backend looks for locks, writes its own and looks
again. Two engines that start at the same moment may each find the other's lock and both stop
(https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/backend/diy/lock.go). The steps before the
engine starts, such as the generated project and the recovery of a killed command, have no engine
lock. This lock covers those steps. It is a lock of the operating system, so it ends with its
process.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from trainyard.workspace.locks import Holder, StackLockedError, locked_message

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
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return  # the lock was never used, or cannot be opened
    try:
        if not _is_ours(descriptor):
            raise StackLockedError(locked_message([_holder(descriptor)], stack))
    finally:
        os.close(descriptor)


def _take(path: Path, *, stack: str, command: str, timeout_seconds: float) -> int:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Children do not inherit the lock: it ends with this process, not with the last plugin.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
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
            raise StackLockedError(locked_message([_holder(descriptor)], stack))
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


def _holder(descriptor: int) -> Holder:
    here = socket.gethostname()
    try:
        content = json.loads(os.pread(descriptor, _MOST_BYTES, 0))
        pid, since, command = int(content["pid"]), str(content["since"]), str(content["command"])
    except (ValueError, KeyError, TypeError):
        # The process has the lock but has not written its name yet.
        return Holder(pid=0, hostname=here, since="a moment ago")
    return Holder(pid=pid, hostname=here, since=since, command=command)
