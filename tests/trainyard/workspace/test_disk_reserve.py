"""The last space of a disk is reserved for the state."""

from __future__ import annotations

import contextlib
import errno
import resource
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE
from trainyard.workspace.disk_reserve import FEWEST_FREE_BYTES, RESERVED_BYTES, disk_space_kept


def test_room_is_kept_while_the_engine_runs_and_no_longer(tmp_path: Path) -> None:
    path = tmp_path / "state" / ".p5-cb.reserve"
    with disk_space_kept(path, print, lambda _: FEWEST_FREE_BYTES):
        assert path.stat().st_blocks * 512 >= RESERVED_BYTES
    assert not path.exists()


def test_it_is_given_up_when_the_disk_fills_up(tmp_path: Path) -> None:
    path, told = tmp_path / ".p5-cb.reserve", threading.Event()
    said: list[str] = []
    free = [FEWEST_FREE_BYTES]

    def report(message: str) -> None:
        said.append(message)
        told.set()

    with disk_space_kept(path, report, lambda _: free[0]):
        free[0] -= 1
        assert told.wait(PATIENCE)
        assert not path.exists()
    (line,) = said
    assert line.startswith(f"the disk of {tmp_path} is full: the 16 MiB that were reserved")


def test_without_that_much_room_nothing_begins(tmp_path: Path) -> None:
    """The error names the file, for the message; the part that was written is deleted."""
    path = tmp_path / ".p5-cb.reserve"
    with (
        file_sizes_limited_to(RESERVED_BYTES - 1),
        pytest.raises(OSError, match=str(path)) as raised,
        disk_space_kept(path, print),
    ):
        raise AssertionError("the engine would run")
    assert raised.value.errno == errno.EFBIG
    assert not path.exists()


@contextlib.contextmanager
def file_sizes_limited_to(limit: int) -> Iterator[None]:
    """A write beyond the limit is short, and the next one an error, as on a full disk.

    Python ignores SIGXFSZ, so that it gets the error EFBIG (`man 2 setrlimit`).
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_a_killed_launcher_left_is_used_again(tmp_path: Path) -> None:
    path = tmp_path / ".p5-cb.reserve"
    path.write_bytes(b"x" * 100)
    with disk_space_kept(path, print, lambda _: FEWEST_FREE_BYTES):
        assert path.stat().st_size == RESERVED_BYTES
    assert not path.exists()


def test_a_state_that_is_elsewhere_needs_no_room_here() -> None:
    with disk_space_kept(None, print):
        pass
