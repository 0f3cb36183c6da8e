"""A lock between processes on a file; it ends with the process that holds it."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trainyard.sandbox.private_files import private

_POLL_SECONDS = 0.05


class LockTakenError(RuntimeError):
    """Another process holds the lock."""


@contextmanager
def locked(path: Path, *, timeout_seconds: float = 0.0) -> Iterator[None]:
    """Hold the lock on a file, which is created if it does not exist.

    Args:
        path: The file; its directory exists.
        timeout_seconds: How long to wait for another process; 0 does not wait.

    Raises:
        LockTakenError: Another process holds it.
    """
    with open(path, "a", encoding="utf-8", opener=private) as file:
        deadline = time.monotonic() + timeout_seconds
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise LockTakenError(f"another process holds {path}") from None
                time.sleep(_POLL_SECONDS)
        yield
