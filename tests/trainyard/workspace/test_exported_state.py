"""The state of a stack is exported in one place, with secrets only if they are needed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.tracked import ROOT
from trainyard.workspace.exported_state import content_of, exported_state, resources_of

VPC = {"urn": "urn:pulumi:p5-cb::trainyard::aws:ec2/vpc:Vpc::p5-cb-vpc", "id": "vpc-1"}


class Engine:
    """A command that returns its arguments as the state."""

    def output(self, arguments: Sequence[str]) -> str:
        return json.dumps({"deployment": {"resources": [VPC], "asked": arguments}})


@pytest.mark.parametrize(("show_secrets", "flags"), [(False, []), (True, ["--show-secrets"])])
def test_the_state_comes_with_secrets_only_where_they_are_asked_for(
    show_secrets: bool, flags: list[str]
) -> None:
    engine: Any = Engine()
    found = exported_state(engine, "p5-cb", show_secrets=show_secrets)
    assert content_of(found)["asked"] == ["stack", "export", *flags, "--stack", "p5-cb"]
    assert resources_of(found) == [VPC]


@pytest.mark.parametrize("empty", [{}, {"deployment": None}, {"deployment": {"resources": None}}])
def test_a_stack_that_was_never_deployed_has_no_resources(empty: dict[str, Any]) -> None:
    assert resources_of(empty) == []


def test_no_other_module_exports_a_state() -> None:
    asking = [
        path.relative_to(ROOT).as_posix()
        for path in Path(ROOT, "src").rglob("*.py")
        if '"export"' in path.read_text(encoding="utf-8")
    ]
    assert asking == ["src/trainyard/workspace/exported_state.py"]
