"""The generated project contains everything the engine writes, and no tracked file."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
import yaml

from tests.support.tracked import ROOT
from trainyard.stack_files.files import write_private
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.project import SandboxProject

PLUGINS = {"aws": Path("/cache/aws"), "kubernetes": ROOT / "sandbox" / "providers" / "kubernetes"}


@pytest.fixture
def project(tmp_path: Path) -> SandboxProject:
    return SandboxProject(tmp_path / "pulumi", PLUGINS)


def stack_file(**config: object) -> StackFile:
    return StackFile("p5-cb", Path("Pulumi.p5-cb.yaml"), {"config": config})


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_program_is_the_checkouts_with_its_own_environment(project: SandboxProject) -> None:
    project.write(stack_file())
    written = yaml.safe_load((project.directory / "Pulumi.yaml").read_text())
    assert written["main"] == str(ROOT)
    assert written["runtime"]["options"]["virtualenv"] == str(ROOT / ".venv")


def test_the_project_has_the_name_and_runtime_of_the_tracked_one(project: SandboxProject) -> None:
    """Otherwise the URNs of the sandbox differ from those of an account."""
    tracked = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
    project.write(stack_file())
    written = yaml.safe_load((project.directory / "Pulumi.yaml").read_text())
    assert written["name"] == tracked["name"]
    assert written["runtime"]["name"] == tracked["runtime"]["name"]


def test_the_engine_is_told_the_plugins_of_the_sandbox(project: SandboxProject) -> None:
    project.write(stack_file())
    written = yaml.safe_load((project.directory / "Pulumi.yaml").read_text())
    named = {p["name"]: p["path"] for p in written["plugins"]["providers"]}
    assert named == {name: str(path) for name, path in PLUGINS.items()}


def test_without_plugins_the_engine_chooses(tmp_path: Path) -> None:
    project = SandboxProject(tmp_path)
    project.write(stack_file())
    assert "plugins" not in yaml.safe_load((tmp_path / "Pulumi.yaml").read_text())


def test_the_salt_that_the_engine_wrote_survives(project: SandboxProject) -> None:
    path = project.write(stack_file(**{"aws:region": "us-west-2"}))
    path.write_text(path.read_text() + "encryptionsalt: v1:abc\n")
    project.write(stack_file(**{"aws:region": "us-east-1"}))
    assert yaml.safe_load(path.read_text()) == {
        "config": {"aws:region": "us-east-1"},
        "encryptionsalt": "v1:abc",
    }


def test_the_passphrase_is_made_once_and_private(project: SandboxProject) -> None:
    first = project.passphrase
    assert project.passphrase == first
    assert mode(project.directory / "passphrase") == 0o600


def test_a_private_file_stays_private_when_it_was_not(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text("old and long")
    path.chmod(0o644)
    write_private(path, "new")
    assert (path.read_text(), mode(path)) == ("new", 0o600)


STACK = {"type": "pulumi:pulumi:Stack"}


@pytest.mark.parametrize(
    ("latest", "held"),
    [
        pytest.param(None, False, id="made-by-init"),
        pytest.param({"resources": [STACK]}, False, id="refused-before-the-first-resource"),
        pytest.param({"manifest": {}}, False, id="destroyed"),
        pytest.param({"resources": [STACK, {"type": "aws:ec2/vpc:Vpc"}]}, True, id="up"),
        pytest.param({"pending_operations": [{"type": "creating"}]}, True, id="killed"),
    ],
)
def test_the_record_that_outlives_a_stack_is_no_stack(
    project: SandboxProject, latest: dict[str, object] | None, *, held: bool
) -> None:
    path = project.state_file("p5-cb")
    path.parent.mkdir(parents=True)
    checkpoint = {"stack": "p5-cb"} | ({"latest": latest} if latest is not None else {})
    path.write_text(json.dumps({"version": 3, "checkpoint": checkpoint}))
    assert project.holds("p5-cb") is held
    assert project.stacks() == (["p5-cb"] if held else [])


def test_a_stack_that_nobody_made_is_not_held(project: SandboxProject) -> None:
    assert not project.holds("p5-cb")


def test_the_outputs_of_a_stack_are_read_from_its_state(project: SandboxProject) -> None:
    """None without a record; empty for a stack that was destroyed."""
    assert project.outputs("vpc-one-az") is None
    path = project.state_file("vpc-one-az")
    path.parent.mkdir(parents=True)
    made = [
        {"type": "pulumi:pulumi:Stack", "outputs": {"vpc_id": "vpc-1"}},
        {"type": "aws:ec2/vpc:Vpc", "outputs": {"id": "vpc-1"}},
    ]
    for resources, expected in ((made, {"vpc_id": "vpc-1"}), (None, {})):
        latest = {"resources": resources} if resources else None
        path.write_text(json.dumps({"checkpoint": {"latest": latest}}), encoding="utf-8")
        assert project.outputs("vpc-one-az") == expected
