"""Write files so that a reader, and whoever comes after a full disk, sees all of one or nothing."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def write_whole(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Write a text file in one step: what was there before stays until all of the new one is.

    Raises:
        OSError: it cannot be written; it names the file, and what was there before is untouched.
    """
    try:
        partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            partial.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                partial.unlink()
            raise
    except OSError as error:
        # A failing write names no file, and a failing open the partial one.
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, also when it exists with other permissions."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(path, text, mode=0o600)


def first_written(path: Path, text: str) -> str:
    """Return the text of a private file, made with this one where there is none yet.

    Of several processes that make it at the same time one is the first, and all get its text.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    own = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    write_whole(own, text, mode=0o600)
    try:
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(own)
    finally:
        own.unlink()
    return path.read_text(encoding="utf-8")
