"""Tests, and the programs that they start, write only below their temporary directory."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.support import write_access
from tests.support.tracked import ROOT

pytestmark = pytest.mark.skipif(
    not write_access.is_available(), reason="this system has no Landlock"
)


@pytest.fixture(scope="module")
def elsewhere() -> list[Path]:
    """Files that a careless test would make: for whoever runs it, the root user included."""
    name = "trainyard-no-test-writes-this"
    folders = (ROOT, ROOT / "tests", Path.home(), Path("/tmp"), Path("/dev"))
    return [folder / name for folder in folders]


def test_a_test_writes_nowhere_else(elsewhere: list[Path]) -> None:
    for path in elsewhere:
        with pytest.raises(PermissionError):
            path.write_text("", encoding="utf-8")
        with pytest.raises(PermissionError):
            path.mkdir()


def test_a_program_that_a_test_starts_writes_nowhere_else(elsewhere: list[Path]) -> None:
    for path in elsewhere:
        done = subprocess.run(["touch", path], capture_output=True, text=True, check=False)
        assert (done.returncode, path.exists()) == (1, False)
        assert "Permission denied" in done.stderr


def test_no_file_of_the_checkout_is_changed() -> None:
    with pytest.raises(PermissionError):
        (ROOT / "README.md").open("a", encoding="utf-8")


def test_temporary_files_of_programs_are_in_a_directory_of_the_run() -> None:
    done = subprocess.run(["mktemp"], capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).is_relative_to(os.environ["TMPDIR"])
    assert tempfile.gettempdir() == os.environ["TMPDIR"]
