"""The panel that closes an `up`, and what every stack's panel says."""

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
"""Columns where nobody's terminal says how wide it is."""


class FactsTable(Table):
    """Names and facts, shown as they are: what looks like rich's markup in them is none."""

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
    """Return a text for a table or a title of rich's, of which nothing is obeyed."""
    return Text(legible(text), style=style)


def print_panel(
    title: str, table: FactsTable, *, changes: Mapping[str, int], commands: Sequence[str]
) -> None:
    """Print a panel, the count of changes, and the commands to try next, which are not folded."""
    width = None if sys.stdout.isatty() else LOG_WIDTH
    Console(highlight=False, width=width).print(
        Panel(table, title=plain(title), title_align="left", expand=False)
    )
    typer.echo(f"Resources: {changes_line(changes)}")
    typer.echo("Next:")
    for command in commands:
        typer.echo(f"  {legible(command)}")


def changes_line(changes: Mapping[str, int]) -> str:
    """Return the counts in words, such as `0 changed, 61 unchanged`."""
    same = changes.get("same", 0)
    changed = {kind: count for kind, count in changes.items() if kind != "same" and count}
    detail = ", ".join(f"{count} {kind}" for kind, count in sorted(changed.items()))
    total = f"{sum(changed.values())} changed" + (f" ({detail})" if detail else "")
    return f"{total}, {same} unchanged"


def end_commands(stack: str, options: str, *, sandbox: bool) -> list[str]:
    """Return the commands that every stack can try next.

    Args:
        stack: Its name.
        options: What follows the name in its commands, with a space first.
        sandbox: Whether it is in the sandbox.
    """
    commands = [
        f"./trainyard up {stack}{options} --yes          # again: changes nothing",
        f"./trainyard destroy {stack}{options} --yes",
    ]
    return [*commands, "./trainyard sandbox stop"] if sandbox else commands
