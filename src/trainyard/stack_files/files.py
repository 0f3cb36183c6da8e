"""Write files atomically: a reader sees the whole file or none, even after a full disk.

A file that is written is also there after a power failure: https://lwn.net/Articles/457667/
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def write_whole(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Write a text file atomically: the old content stays until the new content is complete.

    Raises:
        OSError: the file cannot be written; the error names it, and the old content is unchanged.
    """
    try:
        partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
            _keep_names(path.parent)
        except BaseException:
            with contextlib.suppress(OSError):
                partial.unlink()
            raise
    except OSError as error:
        # A failed write names no file, and a failed open names the temporary one.
        raise OSError(error.errno, error.strerror, str(path)) from error


def _keep_names(directory: Path) -> None:
    """Write the names of new files in a directory to the disk, where its file system can."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # some network file systems cannot, and lose no names
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, even if it exists with other permissions."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(path, text, mode=0o600)


def first_written(path: Path, text: str) -> str:
    """Return the content of a private file; create it with this text if it does not exist.

    If several processes create it at the same time, the first one wins and all get its text.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    own = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    write_whole(own, text, mode=0o600)
    try:
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(own)
            _keep_names(path.parent)
    finally:
        own.unlink()
    return path.read_text(encoding="utf-8")
