"""What is shown when `up` of a stack is done, whatever its architecture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from components.catalog.collective_tests import TESTS_BY_MAKER
from components.catalog.instance_types import INSTANCE_TYPES
from tools.cli.panel import print_panel

if TYPE_CHECKING:
    from tools.cli.panel import FactsTable
    from tools.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything that the closing panel shows."""

    stack: str
    sandbox: bool
    outputs: Mapping[str, Any]
    changes: Mapping[str, int]
    """Resources by operation, `same` for unchanged ones."""
    options: str
    """What follows the stack's name in its commands, with a space first."""


def read_summary(workspace: Workspace, changes: Mapping[str, int], *, sandbox: bool) -> Summary:
    """Return what the engine knows of a stack that it has just brought up with these changes."""
    from tools.workspace.workspace import outputs as read

    return Summary(
        stack=workspace.stack_file.stack,
        sandbox=sandbox,
        outputs=read(workspace, show_secrets=True),
        changes=changes,
        options=workspace.stack_file.options(sandbox=sandbox),
    )


def print_closing_panel(
    summary: Summary, table: FactsTable, commands: list[str], *, emulated: str = "emulated AWS"
) -> None:
    """Print the panel, then the commands to try next, which are not folded.

    Args:
        summary: What it is about.
        table: The facts in it.
        commands: What to try next.
        emulated: What stands behind the stack in the sandbox.
    """
    place = f"SANDBOX ({emulated})" if summary.sandbox else "AWS"
    heading = f"{summary.stack} · {place}"
    print_panel(heading, table, changes=summary.changes, commands=commands)


def first_jobs(instance_types: Iterable[str]) -> list[str]:
    """Return the job that tests nodes of these types, once for each maker of accelerators."""
    known = (INSTANCE_TYPES.get(name) for name in instance_types)
    makers = (each.accelerators.manufacturer for each in known if each and each.accelerators)
    return [TESTS_BY_MAKER[maker] for maker in dict.fromkeys(makers)]
