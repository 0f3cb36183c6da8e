"""The parts of the closing panel that are the same for every stack."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from trainyard.cli.panel import FactsTable, changes_line, end_commands
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of

PC_GPU = find_stack_file("pc-gpu")


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
    assert end_commands(target_of(PC_GPU, sandbox=True))[-1] == "./trainyard sandbox stop"


def test_commands_for_an_account_name_no_sandbox() -> None:
    commands = end_commands(target_of(PC_GPU, sandbox=False))
    assert commands[-1] == "./trainyard destroy pc-gpu --yes"
    assert not [command for command in commands if "sandbox" in command]


def test_commands_for_a_copy_of_the_stack_file_name_the_copy() -> None:
    copy = replace(PC_GPU, path=Path("/tmp/copy.yaml"))
    commands = end_commands(target_of(copy, sandbox=False))
    assert all("pc-gpu --stack-file /tmp/copy.yaml" in command for command in commands)


ENDPOINT = "https://ABCDEF0123456789ABCDEF0123456789.gr7.us-west-2.eks.amazonaws.com"
FACTS = (
    ("cluster", "prod-a, Kubernetes 1.36"),
    ("endpoint", ENDPOINT),
    (f"node group {'a' * 50}", "2 x p5.48xlarge, self-managed"),
    ("note", "p5: the Capacity Block ends at 2026-12-07 10:00 UTC; its nodes are scaled in before"),
)


@pytest.mark.parametrize("columns", [76, 116])
def test_no_word_of_a_fact_is_cut_or_broken(columns: int) -> None:
    table = FactsTable()
    for fact in FACTS:
        table.add_fact(*fact)
    shown = table.text(columns).plain
    assert max(map(len, shown.splitlines())) <= columns
    assert shown.split() == " ".join(f"{name} {fact}" for name, fact in FACTS).split()


def test_a_fact_that_does_not_fit_next_to_its_name_is_below_it() -> None:
    table = FactsTable()
    table.add_fact("cluster", "a b")
    table.add_fact("endpoint", "x" * 20)
    table.add_fact("note", "one two three")
    assert table.text(22).plain.splitlines() == [
        "cluster   a b",
        "endpoint",
        f"  {'x' * 20}",
        "note      one two",
        "          three",
    ]
