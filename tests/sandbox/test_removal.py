"""A directory is removed even if a killed process creates another file in it."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from trainyard.sandbox.removal import remove_tree


def test_a_directory_goes_with_everything_in_it(tmp_path: Path) -> None:
    (tmp_path / "left" / "below").mkdir(parents=True)
    (tmp_path / "left" / "below" / "file").write_text("x", encoding="utf-8")
    remove_tree(tmp_path / "left")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    remove_tree(tmp_path / "none")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_appears_meanwhile_is_removed_with_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, removals, real = tmp_path / "left", [], shutil.rmtree
    left.mkdir()

    def rmtree(directory: Path) -> None:
        removals.append(directory)
        if len(removals) == 1:
            (directory / "late").write_text("x", encoding="utf-8")
            raise OSError(errno.ENOTEMPTY, "Directory not empty", str(directory))
        real(directory)

    monkeypatch.setattr(shutil, "rmtree", rmtree)
    remove_tree(left)
    assert (len(removals), left.exists()) == (2, False)


def test_what_cannot_be_removed_is_an_error_and_not_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rmtree(directory: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(directory))

    monkeypatch.setattr(shutil, "rmtree", rmtree)
    with pytest.raises(PermissionError):
        remove_tree(tmp_path, timeout_seconds=0)
