"""What a killed engine left is cleared in the sandbox and never guessed in an account."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.workspace.engine_process import PulumiCommand
from tools.workspace.pending import (
    CreatesPendingError,
    clear_pending_operations,
    pending_creates,
    refuse_pending_creates,
    without_pending_operations,
)

URN = "urn:pulumi:p5-cb::trainyard::aws:eks/cluster:Cluster::p5-cb"
KILLED = {
    "version": 3,
    "deployment": {
        "resources": [{"urn": "urn:pulumi:p5-cb::trainyard::pulumi:pulumi:Stack::trainyard-p5-cb"}],
        "pending_operations": [
            {"type": "creating", "resource": {"urn": URN}},
            {"type": "updating", "resource": {"urn": "urn:other"}},
        ],
    },
}
CLEAN = without_pending_operations(KILLED)


@pytest.fixture
def engine(tmp_path: Path):
    """A `pulumi` that exports what stands in state.json and imports into it."""
    script = tmp_path / "pulumi"
    script.write_text(
        "#!/bin/sh\n"
        'case "$2" in\n'
        "export) cat state.json;;\n"
        'import) cp "$6" state.json; echo x >> imports;;\n'
        "esac\n"
    )
    script.chmod(0o755)

    def make(state: dict[str, object]) -> PulumiCommand:
        (tmp_path / "state.json").write_text(json.dumps(state))
        return PulumiCommand(script, tmp_path, {"PATH": "/usr/bin:/bin"})

    return make


def test_only_creates_may_have_made_something() -> None:
    assert pending_creates(KILLED) == [URN]
    assert pending_creates(CLEAN) == []


def test_a_stack_that_was_never_updated_has_nothing_pending() -> None:
    assert pending_creates({"version": 3, "deployment": {}}) == []


def test_everything_else_of_the_state_stays() -> None:
    assert CLEAN["deployment"] == {"resources": KILLED["deployment"]["resources"]}
    assert CLEAN["version"] == 3


def test_the_sandbox_forgets_what_is_pending(engine, tmp_path: Path) -> None:
    assert clear_pending_operations(engine(KILLED), stack="p5-cb") == [URN]
    assert json.loads((tmp_path / "state.json").read_text()) == CLEAN


def test_a_clean_state_is_not_written_again(engine, tmp_path: Path) -> None:
    assert clear_pending_operations(engine(CLEAN), stack="p5-cb") == []
    assert not (tmp_path / "imports").exists()


def test_refuses_to_go_on_in_an_account_and_says_how_to_find_out(engine) -> None:
    with pytest.raises(CreatesPendingError) as raised:
        refuse_pending_creates(engine(KILLED), stack="p5-cb")
    message = str(raised.value)
    assert URN in message
    assert "pulumi refresh --stack p5-cb --import-pending-creates 'URN ID'" in message
    assert "pulumi refresh --stack p5-cb --clear-pending-creates" in message


def test_an_account_with_nothing_pending_is_left_alone(engine) -> None:
    refuse_pending_creates(engine(CLEAN), stack="p5-cb")
