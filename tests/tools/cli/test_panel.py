"""The parts of the closing panel that are the same for every stack."""

from __future__ import annotations

import pytest

from tools.cli.panel import changes_line, end_commands


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        pytest.param({"same": 61}, "0 changed, 61 unchanged", id="nothing"),
        pytest.param({"same": 60, "update": 1}, "1 changed (1 update), 60 unchanged", id="one"),
        pytest.param({}, "0 changed, 0 unchanged", id="empty"),
    ],
)
def test_changes_are_counted_in_words(changes: dict[str, int], line: str) -> None:
    assert changes_line(changes) == line


def test_a_sandbox_is_ended_by_its_own_command() -> None:
    assert end_commands("pc-gpu", " --sandbox", sandbox=True)[-1] == "./trainyard sandbox stop"


def test_commands_for_an_account_name_no_sandbox() -> None:
    commands = end_commands("pc-gpu", "", sandbox=False)
    assert commands[-1] == "./trainyard destroy pc-gpu --yes"
    assert not [command for command in commands if "sandbox" in command]


def test_commands_for_a_copy_of_the_stack_file_name_the_copy() -> None:
    commands = end_commands("pc-gpu", " --stack-file /tmp/copy.yaml", sandbox=False)
    assert all("pc-gpu --stack-file /tmp/copy.yaml" in command for command in commands)
