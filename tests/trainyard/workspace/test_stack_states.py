"""Whether a stack is deployed follows from the engine's files."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from trainyard.workspace.backend import history_directory
from trainyard.workspace.exported_state import StackState, listed_states, sandbox_states
from trainyard.workspace.project import SandboxProject

TIME = "2026-11-23T16:49:40.625911257Z"
MOMENT = datetime(2026, 11, 23, 16, 49, 40, 625911, tzinfo=UTC)
STACK = {"type": "pulumi:pulumi:Stack"}
VPC = {"type": "aws:ec2/vpc:Vpc"}


@pytest.fixture
def project(tmp_path: Path) -> SandboxProject:
    return SandboxProject(tmp_path)


def record(project: SandboxProject, *results: str, **latest: Any) -> None:
    """Write the state of the stack `a`, and the records of its updates."""
    state = project.state_file("a")
    state.parent.mkdir(parents=True)
    content = {"checkpoint": {"latest": {"manifest": {"time": TIME}, **latest}}}
    state.write_text(json.dumps(content))
    history = history_directory(project.backend, "a")
    history.mkdir(parents=True)
    for number, result in enumerate(results):
        path = history / f"a-179545257453295510{number}.history.json"
        path.write_text(json.dumps({"result": result}))


@pytest.mark.parametrize(
    ("results", "latest", "state"),
    [
        pytest.param(["failed", "succeeded"], {"resources": [STACK, VPC]}, "deployed", id="up"),
        pytest.param(["succeeded", "failed"], {"resources": [STACK, VPC]}, "update failed", id="f"),
        pytest.param(["failed"], {"resources": [STACK]}, "not deployed", id="nothing-made"),
        pytest.param(["succeeded"], {}, "not deployed", id="destroyed"),
        pytest.param(
            ["succeeded"],
            {"resources": [STACK, VPC], "pending_operations": [{"type": "creating"}]},
            "update interrupted",
            id="killed",
        ),
        pytest.param([], {"pending_operations": [{}]}, "update interrupted", id="first-killed"),
    ],
)
def test_the_state_follows_from_resources_and_the_last_update(
    project: SandboxProject, results: list[str], latest: dict[str, Any], state: str
) -> None:
    record(project, *results, **latest)
    assert sandbox_states(project) == {"a": StackState(state, MOMENT)}  # type: ignore[arg-type]


def test_a_command_that_changes_the_stack_is_seen(project: SandboxProject) -> None:
    record(project, "succeeded", resources=[STACK, VPC])
    lock = project.lock_file("a")
    lock.parent.mkdir()
    code = f"""
import fcntl, sys
file = open({str(lock)!r}, "w")
fcntl.flock(file, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"locked\n"
        assert sandbox_states(project)["a"].state == "update running"
    assert sandbox_states(project)["a"].state == "deployed"


def test_an_empty_backend_has_no_stacks(project: SandboxProject) -> None:
    assert sandbox_states(project) == {}


def test_the_list_of_a_backend_is_read() -> None:
    listed = [
        {"name": "organization/trainyard/a", "lastUpdate": TIME, "resourceCount": 40},
        {"name": "b", "updateInProgress": True, "resourceCount": 3},
        {"name": "c", "resourceCount": 1},
        {"name": "d"},
    ]
    assert listed_states(listed) == {
        "a": StackState("deployed", MOMENT),
        "b": StackState("update running"),
        "c": StackState("not deployed"),
        "d": StackState("not deployed"),
    }
