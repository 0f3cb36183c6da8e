"""Files of the sandbox, which only its user can read."""

from __future__ import annotations

import os
from pathlib import Path

PRIVATE_UMASK = 0o077
"""Mask with which the daemon and the engine run: files and directories are their user's only."""


def private(path: str, flags: int) -> int:
    """Open a file that only its owner can read, if it is new; an `opener` of `open`."""
    return os.open(path, flags, 0o600)


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, from the first byte on."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(file.fileno(), 0o600)  # the mode above does not apply to an existing file
        file.write(content)
