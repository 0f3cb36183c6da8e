"""A refused update under the real engine: it does not begin, and leaves no record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.policy_pack import PACK
from tests.support.pulumi_workspace import Workspace, empty_project
from tests.support.warm_python import warm
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.workspace.update_gate import update_gate

pytestmark = pytest.mark.engine

# A component represents the loss: its deletion is a step, and no provider is needed.
PROGRAM = """\
import pulumi

pulumi.ComponentResource("example:index:Thing", {name!r})
"""


def history(project: Workspace) -> list[str]:
    found = json.loads(project.run("stack", "history", "--json"))
    return [update["result"] for update in found]


def test_an_update_that_is_refused_is_none_in_the_history_of_the_stack(tmp_path: Path):
    """The deletions follow the program's end, and are checked like other steps."""
    project = empty_project(tmp_path, ensure_pulumi(print))
    project.variables = warm({})
    project.write("__main__.py", PROGRAM.format(name="old"))
    project.run("up", "--yes")
    # Another size: Python's cached code is valid for a file of the same second and size.
    project.write("__main__.py", PROGRAM.format(name="newer"))
    judged: list[set[tuple[str, str]]] = []

    def keeps_everything(steps) -> bool:
        judged.append({(step.operation, step.name) for step in steps})
        return not any(step.operation == "delete" for step in steps)

    with update_gate(keeps_everything, fails_preview=True) as gate:
        project.variables = warm(dict(gate.environment))
        said = project.run("up", "--yes", "--policy-pack", str(PACK), *gate.arguments, code=1)
    assert {("delete", "old"), ("create", "newer")} <= judged[0]
    assert "trainyard does not let this update begin" in said
    assert history(project) == ["succeeded"]

    with update_gate(lambda _steps: True, fails_preview=True) as gate:
        project.variables = warm(dict(gate.environment))
        project.run("up", "--yes", "--policy-pack", str(PACK), *gate.arguments)
    assert history(project) == ["succeeded", "succeeded"]
