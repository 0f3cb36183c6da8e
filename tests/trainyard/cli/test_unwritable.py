"""Messages about a full disk and an unwritable path: the problem, the path, and the fix."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.tracked import ROOT
from trainyard.cli.user_errors import unwritable

_refusing: list[Callable[[str, tuple[object, ...]], None]] = []


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    for refuse in _refusing:
        refuse(event, arguments)


# A hook cannot be removed; with an empty list it does nothing.
# https://docs.python.org/3/library/sys.html#sys.addaudithook
sys.addaudithook(_hook)

_WRITING = {"open", "os.mkdir", "os.rename", "os.remove", "os.link", "os.chmod"}


@pytest.fixture
def read_only() -> Iterator[Callable[[Path], None]]:
    """Make a directory unwritable, even for root.

    Like a read-only mount, at the point where Python calls the system.
    """

    def make(directory: Path) -> None:
        def refuse(event: str, arguments: tuple[object, ...]) -> None:
            if event not in _WRITING or not isinstance(arguments[0], str | Path):
                return
            path = Path(arguments[0])
            writes = event != "open" or int(arguments[2] or 0) & 0o3  # type: ignore[call-overload]
            if writes and path.is_relative_to(directory) and not path.exists():
                raise OSError(errno.EROFS, "Read-only file system", str(path))

        _refusing.append(refuse)

    yield make
    _refusing.clear()


def test_a_full_disk_says_where_and_that_nothing_is_lost(tmp_path: Path) -> None:
    error = OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "new" / "file"))
    said = unwritable(error)
    assert said is not None
    assert said.startswith(f"not enough disk space to write {tmp_path}/new/file (No space left")
    assert f"MiB free in {tmp_path})" in said
    assert "the previous content is kept. Free disk space, or use another location" in said


def test_a_full_disk_that_names_no_file_is_told_too() -> None:
    said = unwritable(OSError(errno.ENOSPC, "No space left on device"))
    assert said is not None
    assert said.startswith("not enough disk space to write a file (No space left on device)")


@pytest.mark.parametrize(
    ("path", "remedy"),
    [
        pytest.param("sandbox/pulumi/Pulumi.yaml", "set TRAINYARD_SANDBOX to", id="sandbox"),
        pytest.param("", "set TRAINYARD_SANDBOX to", id="above-the-sandbox"),
        pytest.param("cache/pulumi/.3.lock", "set TRAINYARD_CACHE to", id="cache"),
        pytest.param(ROOT / "x", "use a copy of the repository on another disk", id="checkout"),
        pytest.param("job/hosts.sh", "use another location", id="somewhere"),
    ],
)
def test_a_file_that_may_not_be_written_has_another_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str | Path, remedy: str
) -> None:
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path / "sandbox"))
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path / "cache"))
    said = unwritable(OSError(errno.EROFS, "Read-only file system", str(tmp_path / path)))
    assert said is not None
    assert remedy in said


def test_other_errors_are_not_of_this_kind() -> None:
    assert unwritable(OSError(errno.ECONNREFUSED, "Connection refused")) is None


def test_a_read_only_place_for_the_sandbox_ends_up_in_one_message(
    trainyard, tmp_path: Path, read_only
) -> None:
    """Like the checkout's own directory if the checkout is mounted read-only."""
    read_only(tmp_path)
    result = trainyard("up", "vpc-one-az", "--sandbox", "--yes")
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"error: {tmp_path}/sandbox/")
    assert "cannot be used (Read-only file system); make it writable, or set TRAINYARD_" in line


def test_nothing_is_written_to_check_and_to_make_a_job(trainyard, read_only, tmp_path) -> None:
    """Read-only commands work in a read-only checkout."""
    read_only(ROOT)
    assert trainyard("check", "vpc-one-az", "--sandbox").exit_code == 0
    assert trainyard("job", "p5-cb", "nccl-tests", "--sandbox").exit_code == 0
