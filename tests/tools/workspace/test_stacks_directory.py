"""The user's stack files are in a separate directory, which points to the checkout."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tools.workspace import stacks_directory as module
from tools.workspace.checkout import ROOT
from tools.workspace.stacks_directory import (
    VARIABLE,
    StacksDirectoryError,
    choose,
    create,
    is_stacks_directory,
    stacks_directory,
)


@pytest.fixture(autouse=True)
def own_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The tests record no directory in the checkout, and run elsewhere."""
    memory = tmp_path / "memory"
    memory.mkdir()
    monkeypatch.setattr(module, "OWN_FILES", memory)
    monkeypatch.setattr(module, "_REMEMBERED", memory / "stacks-directory")
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(memory)
    yield memory
    choose(None)


def created(directory: Path) -> Path:
    create(directory)
    return directory


def files(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in directory.iterdir()}


def test_a_created_directory_is_a_project_that_runs_the_program_of_the_checkout(
    tmp_path: Path,
) -> None:
    directory = created(tmp_path / "of mine" / "stacks")
    project = yaml.safe_load((directory / "Pulumi.yaml").read_text())
    tracked = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
    assert project["name"] == tracked["name"]
    assert project["main"] == str(ROOT)
    assert project["runtime"]["options"]["virtualenv"] == str(ROOT / ".venv")
    assert sorted(files(directory)) == [".gitignore", "Pulumi.yaml", "trainyard"]
    assert is_stacks_directory(directory)


def test_the_first_of_option_variable_working_directory_and_memory_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stacks_directory() == ROOT
    remembered = created(tmp_path / "remembered")
    assert stacks_directory() == remembered
    here, named, chosen = (tmp_path / name for name in ("here", "named", "chosen"))
    for directory in (here, named, chosen):
        create(directory)
    create(remembered)
    monkeypatch.chdir(here)
    assert stacks_directory() == here
    monkeypatch.setenv(VARIABLE, str(named))
    assert stacks_directory() == named
    choose(chosen)
    assert stacks_directory() == chosen


def test_the_checkout_can_be_chosen_whatever_is_remembered(tmp_path: Path) -> None:
    create(tmp_path / "stacks")
    choose(ROOT)
    assert stacks_directory() == ROOT


def test_a_remembered_directory_that_is_gone_is_not_used(tmp_path: Path) -> None:
    created(tmp_path / "stacks").rename(tmp_path / "elsewhere")
    assert stacks_directory() == ROOT


def test_a_link_to_a_stacks_directory_is_that_directory(tmp_path: Path) -> None:
    directory = created(tmp_path / "stacks")
    (tmp_path / "link").symlink_to(directory)
    choose(tmp_path / "link")
    assert stacks_directory() == directory


@pytest.mark.parametrize(
    ("project", "problem"),
    [
        pytest.param(None, "it has no Pulumi.yaml", id="empty"),
        pytest.param("name: other\nmain: /x\n", "with the key `main`", id="other-project"),
        pytest.param("name: trainyard\nruntime: python\n", "with the key `main`", id="checkout"),
        pytest.param("main: [\n", "with the key `main`", id="no-yaml"),
    ],
)
def test_a_chosen_directory_of_another_kind_is_refused(
    project: str | None, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if project is not None:
        (tmp_path / "Pulumi.yaml").write_text(project)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(StacksDirectoryError) as refused:
        stacks_directory()
    assert f"{tmp_path}, which ${VARIABLE} names" in str(refused.value)
    assert problem in str(refused.value)


def test_an_existing_stacks_directory_is_remembered_and_not_changed(tmp_path: Path) -> None:
    directory = created(tmp_path / "stacks")
    (directory / "Pulumi.yaml").write_text("# ours\nname: trainyard\nmain: /opt/trainyard\n")
    (directory / "trainyard").unlink()
    before = files(directory)
    create(tmp_path / "other")
    create(directory)
    assert files(directory) == before
    assert stacks_directory() == directory


def test_the_lines_of_an_existing_gitignore_stay(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.tmp\n.pulumi/")
    create(tmp_path)
    lines = (tmp_path / ".gitignore").read_text().splitlines()
    assert lines == ["*.tmp", ".pulumi/", ".trainyard/", ".*.reserve"]


@pytest.mark.parametrize("name", ["Pulumi.yaml", "trainyard"])
def test_a_directory_with_files_of_the_same_names_is_refused_unchanged(
    name: str, tmp_path: Path
) -> None:
    directory = tmp_path / "stacks"
    directory.mkdir()
    (directory / name).write_text("name: mine\n")
    with pytest.raises(StacksDirectoryError, match=f"has its own {name}; nothing was written"):
        create(directory)
    assert files(directory) == {name: "name: mine\n"}


def test_a_file_is_not_a_directory(tmp_path: Path) -> None:
    (tmp_path / "stacks").write_text("")
    with pytest.raises(StacksDirectoryError, match="is not a directory"):
        create(tmp_path / "stacks")


@pytest.mark.parametrize("inside", ["", "stacks"])
def test_the_checkout_takes_no_stack_files_of_the_user(inside: str) -> None:
    with pytest.raises(StacksDirectoryError, match="is in the checkout of trainyard"):
        create(ROOT / inside)
    assert not (ROOT / "stacks").exists()


def test_a_checkout_that_cannot_be_written_remembers_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(module, "OWN_FILES", tmp_path / "file" / "under")
    directory = created(tmp_path / "stacks")
    choose(directory)
    assert stacks_directory() == directory


def run_launcher(directory: Path, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "TRAINYARD_HOME": str(home)}
    return subprocess.run(
        [directory / "trainyard", *arguments],
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_launcher_names_its_directory_and_passes_every_argument(tmp_path: Path) -> None:
    directory = created(tmp_path / "my stacks")
    home = tmp_path / "other checkout"
    home.mkdir()
    program = home / "trainyard"
    program.write_text(f'#!/bin/sh\nprintf "%s|" "${VARIABLE}" "$@"\n')
    program.chmod(0o755)
    done = run_launcher(directory, "up", "a b", "", home=home)
    assert done.stdout == f"{directory}|up|a b||"


def test_the_launcher_without_a_checkout_says_what_to_set(tmp_path: Path) -> None:
    done = run_launcher(created(tmp_path / "stacks"), "up", home=tmp_path / "gone")
    assert done.returncode == 1
    assert "gone is not a checkout of trainyard; set TRAINYARD_HOME" in done.stderr


def test_the_launcher_uses_the_checkout_that_created_it(tmp_path: Path) -> None:
    assert f"checkout={ROOT}\n" in (created(tmp_path / "s") / "trainyard").read_text()
