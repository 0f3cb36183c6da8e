"""Remove directories to which a thread of a killed process may still write."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

_TIMEOUT_SECONDS = 10.0
_POLL_SECONDS = 0.05


def remove_tree(directory: Path, *, timeout_seconds: float = _TIMEOUT_SECONDS) -> None:
    """Remove a directory and its content; does nothing if it does not exist.

    A killed process counts as ended when its main thread has ended. Another thread may still be
    inside a call that creates a file, so the directory is not empty again. Therefore failures are
    retried until the timeout.

    Raises:
        OSError: The directory cannot be removed: a process still writes there, or it belongs to
            another user.
    """
    deadline = time.monotonic() + timeout_seconds
    while directory.exists():
        try:
            shutil.rmtree(directory)
        except OSError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_POLL_SECONDS)
