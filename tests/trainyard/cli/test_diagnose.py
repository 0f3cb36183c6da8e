"""`diagnose`: the directory that it makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.cli import failures
from trainyard.commands.deployment.diagnose import new_directory


def interrupted(wanted: Path) -> None:
    with new_directory(wanted, "dev") as directory:
        (directory / "kubernetes").mkdir()
        (directory / "kubernetes" / "pods.json").write_text("{}")
        raise KeyboardInterrupt


def test_what_an_interrupted_command_has_written_does_not_stop_the_next(tmp_path: Path) -> None:
    wanted = tmp_path / "new" / "diagnosis"
    with pytest.raises(KeyboardInterrupt):
        interrupted(wanted)
    assert not wanted.exists()
    with new_directory(wanted, "dev") as directory:
        (directory / "summary.md").write_text("all of it")
    assert [each.name for each in wanted.iterdir()] == ["summary.md"]


@pytest.mark.parametrize("kind", ["directory", "file", "link"])
def test_nothing_that_exists_is_replaced(tmp_path: Path, kind: str) -> None:
    wanted, other = tmp_path / "diagnosis", tmp_path / "other"
    if kind == "directory":
        wanted.mkdir()
        (wanted / "notes").write_text("the user's")
    elif kind == "file":
        wanted.write_text("the user's")
    else:
        wanted.symlink_to(other)
    says = "exists; name a new directory with --output"
    with pytest.raises(failures.WrongUseError, match=says), new_directory(wanted, "dev"):
        pass
    assert wanted.is_symlink() or wanted.exists()
    assert not (wanted / "notes").exists() or (wanted / "notes").read_text() == "the user's"
