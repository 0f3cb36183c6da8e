"""The closing panel of `up` and the panel of `status`, for any architecture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.cli.panel import FactsTable, print_panel
from trainyard.components.catalog.collective_tests import TESTS_BY_MAKER
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.workspace.target import Target
from trainyard.workspace.workspace import Workspace
from trainyard.workspace.workspace import outputs as read


@dataclass(frozen=True, slots=True)
class Summary:
    """The content of the closing panel."""

    target: Target
    outputs: Mapping[str, Any]
    changes: Mapping[str, int] | None
    """Number of resources by operation, `same` for unchanged resources; None without an update."""
    facts: tuple[tuple[str, str], ...] = ()
    """Names and facts at the end of the panel, beyond those of the architecture."""


def read_summary(workspace: Workspace, changes: Mapping[str, int] | None) -> Summary:
    """Return the summary of a stack that was deployed with these changes, or of its last state."""
    return Summary(
        target=workspace.target,
        outputs=read(workspace, show_secrets=True),
        changes=changes,
    )


def print_closing_panel(
    summary: Summary, table: FactsTable, commands: list[str], *, emulated: str = "emulated AWS"
) -> None:
    """Print the panel, then the next commands, which are not wrapped.

    Args:
        summary: The stack and its changes.
        table: The facts in the panel.
        commands: The next commands.
        emulated: What the sandbox emulates for the stack.
    """
    for name, fact in summary.facts:
        table.add_fact(name, fact)
    place = f"SANDBOX ({emulated})" if summary.target.is_sandbox else "AWS"
    heading = f"{summary.target.stack} · {place}"
    print_panel(heading, table, changes=summary.changes, commands=commands)


def first_jobs(instance_types: Iterable[str]) -> list[str]:
    """Return the jobs that test nodes of these types, one per accelerator vendor."""
    known = (INSTANCE_TYPES.get(name) for name in instance_types)
    makers = (each.accelerators.manufacturer for each in known if each and each.accelerators)
    return [TESTS_BY_MAKER[maker] for maker in dict.fromkeys(makers)]
