"""The closing panel of `up`, and the facts that all panels share."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import typer
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from trainyard.components.plain_text import fill, legible
from trainyard.components.typed_command import as_typed
from trainyard.workspace.target import Target

LOG_WIDTH = 140
"""Width if there is no terminal."""
_BORDER_COLUMNS = 4
"""Left and right border of a panel, with a space each."""


class FactsTable:
    """A table of names and facts as plain text, without rich markup."""

    def __init__(self) -> None:
        self._facts: list[tuple[str, str]] = []

    def add_fact(self, name: str, fact: str) -> None:
        """Add a line."""
        self._facts.append((legible(name), legible(as_typed(fact))))

    def text(self, columns: int) -> Text:
        """Return the table for a number of columns.

        A fact with a word that does not fit next to the names, such as the endpoint of an EKS
        cluster, is below its name, so that the word can be copied.
        """
        names = [len(name) for name, _ in self._facts if len(name) <= columns // 2]
        indent = max(names, default=0) + 2
        lines: list[Text] = []
        for name, fact in self._facts:
            longest = max((len(word) for word in fact.split()), default=0)
            fits = len(name) + 2 <= indent and indent + longest <= columns
            hanging = " " * (indent if fits else 2)
            parts = [fill(line, max(1, columns - len(hanging)), "") for line in fact.split("\n")]
            shown = "\n".join(parts).replace("\n", f"\n{hanging}")
            gap = " " * (indent - len(name)) if fits else f"\n{hanging}"
            lines.append(Text.assemble((name, "bold"), gap, shown))
        return Text("\n").join(lines)


def plain(text: str, style: str = "") -> Text:
    """Return a text for a rich table or title in which markup has no effect."""
    return Text(legible(as_typed(text)), style=style)


def print_panel(
    title: str, table: FactsTable, *, changes: Mapping[str, int] | None, commands: Sequence[str]
) -> None:
    """Print a panel, the count of changes after an update, and the next commands, not wrapped."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else LOG_WIDTH)
    text = table.text(console.width - _BORDER_COLUMNS)
    console.print(Panel(text, title=plain(title), title_align="left", expand=False))
    if changes is not None:
        typer.echo(f"Resources: {changes_line(changes)}")
    typer.echo("Next:")
    for command in commands:
        typer.echo(f"  {legible(as_typed(command))}")


def changes_line(changes: Mapping[str, int]) -> str:
    """Return the counts as text, such as `0 changed, 61 unchanged`."""
    same = changes.get("same", 0)
    changed = {kind: count for kind, count in changes.items() if kind != "same" and count}
    detail = ", ".join(f"{count} {kind}" for kind, count in sorted(changed.items()))
    total = f"{sum(changed.values())} changed" + (f" ({detail})" if detail else "")
    return f"{total}, {same} unchanged"


def end_commands(target: Target) -> list[str]:
    """Return the next commands that all stacks share."""
    commands = [
        f"{target.command('up')} --yes          # again: changes nothing",
        f"{target.command('destroy')} --yes",
    ]
    return [*commands, "./trainyard sandbox stop"] if target.is_sandbox else commands
