"""`accept` in the sandbox: a whole acceptance, and what it refuses."""

from __future__ import annotations

import json

import pytest

from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.sandbox, pytest.mark.parallelcluster]
STACK = "pc-trn1"


def test_a_stack_is_accepted_and_leaves_nothing(sandbox: Sandbox) -> None:
    directory = sandbox.directory / "accept"
    accept = ("accept", STACK, "--sandbox", "--output", directory)
    done = sandbox.must(*accept)
    assert f"{STACK}: accepted after" in done.stdout
    report = json.loads((directory / "report.json").read_text(encoding="utf-8"))
    assert report["passed"] is True
    assert [each["name"] for each in report["steps"]] == [
        *("check", "up", "up again", "refresh", "test", "change", "diagnose", "destroy"),
        "remains",
    ]
    said = (directory / "test.log").read_text(encoding="utf-8")
    assert {"node 0 of 2", "node 1 of 2"} <= {*said.splitlines()}
    assert "on the sandbox: emulated AWS" in (directory / "report.html").read_text("utf-8")
    assert not [line for line in sandbox.inventory() if STACK in line]
    again = sandbox.must(*accept)
    assert "the stack comes up" not in again.stderr
    other = sandbox.run("accept", "dev", "--sandbox", "--output", directory)
    assert other.exit_code == 2
    assert "is the acceptance of another stack" in other.stderr
