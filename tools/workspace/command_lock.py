"""One command at a time changes a stack: a lock of the launcher's own, before the engine's.

The engine of a `file://`, `s3://` or like backend looks for locks, writes its own and looks again:
of two that start in the same moment each may find the other's, and none goes on
(https://github.com/pulumi/pulumi/blob/v3.259.0/pkg/backend/diy/lock.go). What precedes the engine,
such as the generated project and the recovery of a killed command, has no lock at all. This one
begins before and is the operating system's: it ends with its process, however that ends.
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

from tools.workspace.locks import Holder, StackLockedError, locked_message

_POLL_SECONDS, _MOST_BYTES = 0.05, 4096


_HELD: dict[Path, int] = {}
"""Lock files that this process holds, by path, as file descriptors."""


def hold_lock(path: Path, *, stack: str, command: str) -> None:
    """Be the only one who works on a stack, until `release_lock` or the end of this process.

    Args:
        path: The lock file, which is made where it does not exist, and stays.
        stack: Name of the stack, for the message.
        command: What works on it, such as `up`, for the message of who comes second.

    Raises:
        StackLockedError: another process works on the stack; the message says which, since when,
            and what to do.
        OSError: the lock file cannot be written.
    """
    if path not in _HELD:
        _HELD[path] = _take(path, stack=stack, command=command, timeout_seconds=0)


def release_lock(path: Path) -> None:
    """Let others work on a stack again; does nothing where this process does not hold it."""
    descriptor = _HELD.pop(path, None)
    if descriptor is not None:
        os.close(descriptor)


@contextmanager
def short_lock(path: Path, *, stack: str, command: str, timeout_seconds: float) -> Iterator[None]:
    """Be the only one while the block runs; waits so long for another's end.

    Raises:
        StackLockedError: another process works on the stack, and goes on with that.
        OSError: the lock file cannot be written.
    """
    descriptor = _take(path, stack=stack, command=command, timeout_seconds=timeout_seconds)
    try:
        yield
    finally:
        os.close(descriptor)


@contextmanager
def every_lock(directory: Path, *, command: str) -> Iterator[None]:
    """Let nobody work on any stack while the block runs; waits for nobody.

    Args:
        directory: Where the lock files are, each named after its stack.
        command: What the turns are taken for, such as `sandbox stop`.

    Raises:
        StackLockedError: others work on stacks; the message names each of them.
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
    """Stop where another process works on the stack; take no turn.

    Raises:
        StackLockedError: one does.
    """
    if path in _HELD:
        return
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return  # nobody ever worked here, or nobody can
    try:
        if not _is_ours(descriptor):
            raise StackLockedError(locked_message([_holder(descriptor)], stack))
    finally:
        os.close(descriptor)


def _take(path: Path, *, stack: str, command: str, timeout_seconds: float) -> int:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Not handed on to children: the turn ends with this process, not with the last plugin.
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
    # A name on it is a courtesy: where the disk is full the lock holds without.
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(content).encode(), 0)


def _holder(descriptor: int) -> Holder:
    here = socket.gethostname()
    try:
        content = json.loads(os.pread(descriptor, _MOST_BYTES, 0))
        pid, since, command = int(content["pid"]), str(content["since"]), str(content["command"])
    except (ValueError, KeyError, TypeError):
        # It has the lock and has not signed yet.
        return Holder(pid=0, hostname=here, since="this moment")
    return Holder(pid=pid, hostname=here, since=since, command=command)
