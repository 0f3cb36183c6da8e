"""The user's stack files are in a separate directory, which points to the checkout."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.support.tracked import ROOT
from trainyard.stack_files.installation import INSTALLATION, Installation
from trainyard.stack_files.stacks_directory import (
    VARIABLE,
    StacksDirectoryError,
    choose,
    create,
    is_stacks_directory,
    stacks_directory,
)


@pytest.fixture(autouse=True)
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installation]:
    """A installation, which is the working directory; nothing selects a stacks directory."""
    root = tmp_path / "checkout"
    root.mkdir()
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(root)
    yield Installation(root)
    choose(None)


def created(directory: Path, installation: Installation) -> Path:
    create(directory, installation)
    return directory


def files(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in directory.iterdir()}


def test_a_created_directory_is_a_project_that_runs_the_program_of_the_checkout(
    tmp_path: Path, installation: Installation
) -> None:
    directory = created(tmp_path / "of mine" / "stacks", installation)
    project = yaml.safe_load((directory / "Pulumi.yaml").read_text())
    tracked = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
    assert project["name"] == tracked["name"]
    assert project["main"] == str(installation.clone)
    assert project["runtime"]["options"]["virtualenv"] == str(installation.clone / ".venv")
    assert sorted(files(directory)) == [".gitignore", "Pulumi.yaml", "trainyard"]
    assert is_stacks_directory(directory)


def test_the_checkout_is_the_one_of_the_program() -> None:
    assert INSTALLATION.clone == ROOT


def test_the_first_of_option_variable_working_directory_and_memory_is_used(
    tmp_path: Path, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stacks_directory(installation) == installation.clone
    remembered = created(tmp_path / "remembered", installation)
    assert stacks_directory(installation) == remembered
    here, named, chosen = (tmp_path / name for name in ("here", "named", "chosen"))
    for directory in (here, named, chosen, remembered):
        create(directory, installation)
    monkeypatch.chdir(here)
    assert stacks_directory(installation) == here
    monkeypatch.setenv(VARIABLE, str(named))
    assert stacks_directory(installation) == named
    choose(chosen)
    assert stacks_directory(installation) == chosen


def test_the_checkout_can_be_chosen_whatever_is_remembered(
    tmp_path: Path, installation: Installation
) -> None:
    create(tmp_path / "stacks", installation)
    choose(installation.clone)
    assert stacks_directory(installation) == installation.clone


def test_a_remembered_directory_that_is_gone_is_not_used(
    tmp_path: Path, installation: Installation
) -> None:
    created(tmp_path / "stacks", installation).rename(tmp_path / "elsewhere")
    assert stacks_directory(installation) == installation.clone


def test_a_link_to_a_stacks_directory_is_that_directory(
    tmp_path: Path, installation: Installation
) -> None:
    directory = created(tmp_path / "stacks", installation)
    (tmp_path / "link").symlink_to(directory)
    choose(tmp_path / "link")
    assert stacks_directory(installation) == directory


@pytest.mark.parametrize(
    ("project", "problem"),
    [
        pytest.param(None, "it has no Pulumi.yaml", id="empty"),
        pytest.param("name: other\nmain: /x\n", "has the name other", id="other-project"),
        pytest.param("name: trainyard\nruntime: python\n", "has no `main`", id="checkout"),
        pytest.param("main: [\n", "is not valid YAML", id="no-yaml"),
        pytest.param("5\n", "not the mapping of a project", id="no-mapping"),
        pytest.param("runtime: python\n", "has no `name`", id="no-name"),
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


def test_an_existing_stacks_directory_is_remembered_and_not_changed(
    tmp_path: Path, installation: Installation
) -> None:
    directory = created(tmp_path / "stacks", installation)
    (directory / "Pulumi.yaml").write_text("# ours\nname: trainyard\nmain: /opt/trainyard\n")
    (directory / "trainyard").unlink()
    before = files(directory)
    create(tmp_path / "other", installation)
    create(directory, installation)
    assert files(directory) == before
    assert stacks_directory(installation) == directory


def test_the_lines_of_an_existing_gitignore_stay(
    tmp_path: Path, installation: Installation
) -> None:
    directory = tmp_path / "stacks"
    directory.mkdir()
    (directory / ".gitignore").write_text("*.tmp\n.pulumi/")
    create(directory, installation)
    lines = (directory / ".gitignore").read_text().splitlines()
    assert lines == ["*.tmp", ".pulumi/", ".trainyard/", ".*.reserve"]


@pytest.mark.parametrize("name", ["Pulumi.yaml", "trainyard"])
def test_a_directory_with_files_of_the_same_names_is_refused_unchanged(
    name: str, tmp_path: Path, installation: Installation
) -> None:
    directory = tmp_path / "stacks"
    directory.mkdir()
    (directory / name).write_text("name: mine\n")
    with pytest.raises(StacksDirectoryError, match=f"has its own {name}; nothing was written"):
        create(directory, installation)
    assert files(directory) == {name: "name: mine\n"}


def test_a_file_is_not_a_directory(tmp_path: Path, installation: Installation) -> None:
    (tmp_path / "stacks").write_text("")
    with pytest.raises(StacksDirectoryError, match="is not a directory"):
        create(tmp_path / "stacks", installation)


@pytest.mark.parametrize("inside", ["", "stacks"])
def test_the_checkout_takes_no_stack_files_of_the_user(
    inside: str, installation: Installation
) -> None:
    with pytest.raises(StacksDirectoryError, match="is in the clone of trainyard"):
        create(installation.clone / inside, installation)
    assert not [*installation.clone.iterdir()]


def test_a_checkout_that_cannot_be_written_remembers_nothing(
    tmp_path: Path, installation: Installation
) -> None:
    installation.own_files.write_text("")
    directory = created(tmp_path / "stacks", installation)
    choose(directory)
    assert stacks_directory(installation) == directory


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


def test_the_launcher_names_its_directory_and_passes_every_argument(
    tmp_path: Path, installation: Installation
) -> None:
    directory = created(tmp_path / "my stacks", installation)
    home = tmp_path / "other checkout"
    home.mkdir()
    program = home / "trainyard"
    program.write_text(f'#!/bin/sh\nprintf "%s|" "${VARIABLE}" "$@"\n')
    program.chmod(0o755)
    done = run_launcher(directory, "up", "a b", "", home=home)
    assert done.stdout == f"{directory}|up|a b||"


def test_the_launcher_without_a_checkout_says_what_to_set(
    tmp_path: Path, installation: Installation
) -> None:
    directory = created(tmp_path / "stacks", installation)
    done = run_launcher(directory, "up", home=tmp_path / "gone")
    assert done.returncode == 1
    assert "gone is not a checkout of trainyard; set TRAINYARD_HOME" in done.stderr


def test_the_launcher_uses_the_checkout_that_created_it(
    tmp_path: Path, installation: Installation
) -> None:
    launcher = created(tmp_path / "stacks", installation) / "trainyard"
    assert f"checkout={installation.clone}\n" in launcher.read_text()
