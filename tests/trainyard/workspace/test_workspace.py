"""A workspace in a user's account refuses operations that would fail; it never repairs itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.recorded_engine import creating
from trainyard.engine.engine_process import PulumiCommand
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.accounts import target_of
from trainyard.workspace.backend import StackMissingError
from trainyard.workspace.recovery.errors import CreatesPendingError
from trainyard.workspace.workspace import AccountWorkspace, run


@pytest.fixture
def workspace(tmp_path: Path):
    """A workspace whose backend has the given stacks."""
    script = tmp_path / "pulumi"
    script.write_text('#!/bin/sh\ncat -- "$2.json"\n')
    script.chmod(0o755)

    def make(
        *stacks: str, config_file: Path | None = None, backend: str = "s3://state"
    ) -> AccountWorkspace:
        (tmp_path / "ls.json").write_text(json.dumps([{"name": name} for name in stacks]))
        (tmp_path / "--verbose.json").write_text(json.dumps({"url": backend}))
        (tmp_path / "export.json").write_text(json.dumps({"version": 3, "deployment": {}}))
        return AccountWorkspace(
            target=target_of(StackFile("p5-cb", tmp_path / "Pulumi.p5-cb.yaml", {}), sandbox=False),
            command=PulumiCommand(script, tmp_path, {"PATH": "/usr/bin:/bin"}),
            config_file=config_file,
        )

    return make


def test_variables_of_one_command_reach_the_engine(
    workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sandbox passes on only those of the user's variables that programs need."""
    seen = []
    monkeypatch.setattr(
        "trainyard.workspace.workspace.run_listening", lambda command, _: seen.append(command)
    )
    run(workspace("p5-cb"), "destroy", variables={"PULUMI_K8S_DELETE_UNREACHABLE": "true"})
    run(workspace("p5-cb"), "destroy")
    assert [each.environment.get("PULUMI_K8S_DELETE_UNREACHABLE") for each in seen] == [
        "true",
        None,
    ]


def told(_message: str) -> None:
    raise AssertionError("an account is never repaired silently")


def test_refuses_a_stack_that_the_backend_does_not_have(workspace) -> None:
    with pytest.raises(StackMissingError, match="pulumi stack init p5-cb"):
        workspace("other").prepare(changes=True, report=told)


@pytest.mark.parametrize("name", ["p5-cb", "somebody/p5-cb"])
def test_a_stack_is_found_with_or_without_its_owner(workspace, name: str) -> None:
    workspace(name).prepare(changes=True, report=told)


def test_what_a_killed_command_left_unfinished_is_looked_for_before_a_change(
    workspace, tmp_path: Path
) -> None:
    killed = workspace("p5-cb")
    pending = [creating("urn:pulumi:p5-cb::trainyard::aws:s3/bucket:Bucket::data")]
    state = {"version": 3, "deployment": {"pending_operations": pending}}
    (tmp_path / "export.json").write_text(json.dumps(state))
    with pytest.raises(CreatesPendingError, match="Bucket::data"):
        killed.prepare(changes=True, report=told)


def test_nothing_is_asked_of_the_backend_where_nothing_changes(workspace) -> None:
    workspace().prepare(changes=False, report=told)


def test_another_stack_file_is_handed_to_the_engine(workspace, tmp_path: Path) -> None:
    copy = tmp_path / "copy.yaml"
    assert workspace().arguments() == ["--stack", "p5-cb"]
    assert workspace(config_file=copy).arguments() == [
        *("--stack", "p5-cb"),
        *("--config-file", str(copy)),
    ]
