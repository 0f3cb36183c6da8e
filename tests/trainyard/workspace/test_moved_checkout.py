"""A stacks directory follows the checkout; everything else in its files belongs to the user."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.tracked import ROOT
from trainyard.stack_files.moved_checkout import follow_checkout
from trainyard.stack_files.stacks_directory import create, launcher_text

OLD = "/opt/trainyard-1"


def silent(message: str) -> None:
    raise AssertionError(message)


def project(directory: Path, text: str) -> Path:
    path = directory / "Pulumi.yaml"
    path.write_bytes(text.encode())
    return path


def test_only_the_two_values_change_and_the_change_is_reported(tmp_path: Path) -> None:
    text = (
        "# Ours: {a}\r\nname:   trainyard # the project\nbackend: {{url: 's3://state'}}\n"
        'main: {main}   # the checkout\n\nruntime: {{name: "python", options: '
        "{{toolchain: pip, virtualenv: {venv}}}}}\nconfig: {{aws:region: us-east-1}}"
    )
    old = text.format(a="ä", main=f"'{OLD}'", venv=f"{OLD}/.venv")
    path = project(tmp_path, old)
    said: list[str] = []
    follow_checkout(tmp_path, said.append)
    assert path.read_bytes().decode() == text.format(a="ä", main=ROOT, venv=ROOT / ".venv")
    assert said == [f"{path} named the checkout {OLD}: main and virtualenv now name {ROOT}"]


def test_an_environment_of_the_user_stays(tmp_path: Path) -> None:
    old = "name: trainyard\nmain: {}\nruntime: {{name: python, options: {{virtualenv: /my/env}}}}\n"
    path = project(tmp_path, old.format(OLD))
    follow_checkout(tmp_path, lambda _: None)
    assert path.read_text() == old.format(ROOT)


def test_a_directory_without_environment_keeps_none(tmp_path: Path) -> None:
    path = project(tmp_path, f"name: trainyard\nmain: {OLD}\nruntime: python\n")
    follow_checkout(tmp_path, lambda _: None)
    assert path.read_text() == f"name: trainyard\nmain: {ROOT}\nruntime: python\n"


def test_a_link_and_a_relative_path_to_the_checkout_stay(tmp_path: Path) -> None:
    (tmp_path / "current").symlink_to(ROOT)
    for main in ("current", str(tmp_path / "current"), str(ROOT)):
        path = project(tmp_path, f"name: trainyard\nmain: {main}\n")
        follow_checkout(tmp_path, silent)
        assert path.read_text() == f"name: trainyard\nmain: {main}\n"


def test_the_checkout_itself_is_left_alone() -> None:
    before = (ROOT / "Pulumi.yaml").read_bytes()
    follow_checkout(ROOT, silent)
    assert (ROOT / "Pulumi.yaml").read_bytes() == before


@pytest.mark.parametrize("changed", [False, True])
def test_a_launcher_follows_unless_its_user_has_changed_it(changed: bool, tmp_path: Path) -> None:
    create(tmp_path)
    text = launcher_text(Path(OLD)) + ("# mine\n" if changed else "")
    (tmp_path / "trainyard").write_text(text)
    content = (tmp_path / "Pulumi.yaml").read_text()
    project(tmp_path, content.replace(str(ROOT), OLD))
    follow_checkout(tmp_path, lambda _: None)
    assert (tmp_path / "Pulumi.yaml").read_text() == content
    assert (tmp_path / "trainyard").read_text() == (text if changed else launcher_text(ROOT))
    assert (tmp_path / "trainyard").stat().st_mode & 0o111
