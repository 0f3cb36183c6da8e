"""Disk space that is reserved for the engine's state and released when the disk is full.

If a `file://` backend cannot write a complete state, it replaces the old state with a truncated
one, and the next copy overwrites the backup. Every command then fails with `place 1: unexpected end
of JSON input`. Measured with engine 3.259 on a full tmpfs. The backend retries for minutes
(`saveCheckpoint`, ten times, the first after one second), so space that is released meanwhile saves
the state.

Sources:
    https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/backend/diy/state.go
    https://github.com/google/go-cloud/blob/master/blob/blob.go (`WriteAll`)
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from trainyard.stack_files.files import unbuffered

RESERVED_BYTES = 16 * 2**20
"""A multiple of the size of a state, because state, backup and successor must fit."""
FEWEST_FREE_BYTES = 4 * 2**20
_LOOK_SECONDS = 0.2
_PIECE_BYTES = 2**20


def free_bytes(directory: Path) -> int:
    """Return the number of bytes that can still be written in a directory."""
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize


@contextlib.contextmanager
def disk_space_kept(
    path: Path | None,
    report: Callable[[str], None],
    free_bytes: Callable[[Path], int] = free_bytes,
) -> Iterator[None]:
    """Reserve disk space while the block runs, and release it when the disk is full.

    Args:
        path: A file that holds the space; deleted when the block ends. None reserves nothing.
        report: Called when the space is released.
        free_bytes: Returns the number of bytes that can still be written in a directory.

    Raises:
        OSError: there is not enough space; nothing was started.
    """
    if path is None:
        yield
        return
    ended = threading.Event()
    try:
        _fill(path)
        asked = path, ended, report, free_bytes
        watch = threading.Thread(target=_watch, args=asked, daemon=True)
        watch.start()
        try:
            yield
        finally:
            ended.set()
            watch.join()
    finally:
        path.unlink(missing_ok=True)


def _fill(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    piece = bytes(_PIECE_BYTES)
    try:
        with unbuffered(path) as file:
            for _ in range(RESERVED_BYTES // _PIECE_BYTES):
                if file.write(piece) < _PIECE_BYTES:
                    file.write(piece)  # raises the error
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _watch(
    path: Path,
    ended: threading.Event,
    report: Callable[[str], None],
    free_bytes: Callable[[Path], int],
) -> None:
    while not ended.wait(_LOOK_SECONDS):
        if free_bytes(path.parent) < FEWEST_FREE_BYTES:
            path.unlink(missing_ok=True)
            report(
                f"the disk of {path.parent} is full: the {RESERVED_BYTES // 2**20} MiB that were "
                "reserved for the state are released now; free disk space before they are used up"
            )
            return
