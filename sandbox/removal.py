"""Removes directories whose last writer may not have ended to its last thread."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

_TIMEOUT_SECONDS = 10.0
_POLL_SECONDS = 0.05


def remove_tree(directory: Path, *, timeout_seconds: float = _TIMEOUT_SECONDS) -> None:
    """Remove a directory and all in it; nothing if there is none.

    A killed process counts as ended when its first thread has; another one may still be inside
    the call that makes a file, and the directory is not empty once more. So a failure is tried
    again for a while.

    Raises:
        OSError: The directory cannot be removed; something still writes there, or it belongs to
            somebody else.
    """
    deadline = time.monotonic() + timeout_seconds
    while directory.exists():
        try:
            shutil.rmtree(directory)
        except OSError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_POLL_SECONDS)
