"""The closing panel of `up`, and the facts that all panels share."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import typer
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from components.plain_text import legible

LOG_WIDTH = 140
"""Width if there is no terminal."""


class FactsTable(Table):
    """A table of names and facts as plain text, without rich markup."""

    def __init__(self) -> None:
        super().__init__(
            box=None, padding=(0, 2), show_header=False, show_edge=False, pad_edge=False
        )
        self.collapse_padding = True
        self.add_column(style="bold")
        self.add_column(overflow="fold")

    def add_fact(self, name: str, fact: str) -> None:
        """Add a line."""
        self.add_row(plain(name), plain(fact))


def plain(text: str, style: str = "") -> Text:
    """Return a text for a rich table or title in which markup has no effect."""
    return Text(legible(text), style=style)


def print_panel(
    title: str, table: FactsTable, *, changes: Mapping[str, int] | None, commands: Sequence[str]
) -> None:
    """Print a panel, the count of changes after an update, and the next commands, not wrapped."""
    width = None if sys.stdout.isatty() else LOG_WIDTH
    Console(highlight=False, width=width).print(
        Panel(table, title=plain(title), title_align="left", expand=False)
    )
    if changes is not None:
        typer.echo(f"Resources: {changes_line(changes)}")
    typer.echo("Next:")
    for command in commands:
        typer.echo(f"  {legible(command)}")


def changes_line(changes: Mapping[str, int]) -> str:
    """Return the counts as text, such as `0 changed, 61 unchanged`."""
    same = changes.get("same", 0)
    changed = {kind: count for kind, count in changes.items() if kind != "same" and count}
    detail = ", ".join(f"{count} {kind}" for kind, count in sorted(changed.items()))
    total = f"{sum(changed.values())} changed" + (f" ({detail})" if detail else "")
    return f"{total}, {same} unchanged"


def end_commands(stack: str, options: str, *, sandbox: bool) -> list[str]:
    """Return the next commands that all stacks share.

    Args:
        stack: Name of the stack.
        options: Options that follow the name in commands, with a leading space.
        sandbox: Whether the stack is in the sandbox.
    """
    commands = [
        f"./trainyard up {stack}{options} --yes          # again: changes nothing",
        f"./trainyard destroy {stack}{options} --yes",
    ]
    return [*commands, "./trainyard sandbox stop"] if sandbox else commands
