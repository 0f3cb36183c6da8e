"""The preflight of a stack, with a row per check."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.table import Table

from trainyard.cli.panel import LOG_WIDTH, plain

if TYPE_CHECKING:
    from rich.text import Text

    from trainyard.components.account.check import Verdict
    from trainyard.components.architectures.preflight import Preflight

_STYLES: dict[Verdict, str] = {
    "ok": "green",
    "warning": "yellow",
    "refused": "bold red",
    "skipped": "dim",
}


def print_preflight(stack: str, found: Preflight) -> None:
    """Print the identity, the region, and one row per answer.

    A row has only two columns, because keys and ids must not be broken in a terminal of 80 columns.
    """
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row in found.rows:
        asked = plain(f"{row.subject}: {row.asked}")
        asked.stylize("bold", 0, len(plain(row.subject)))
        verdict = plain(row.verdict, style=_STYLES[row.verdict])
        table.add_row(verdict, Group(asked, plain(row.found)))
    width = None if sys.stdout.isatty() else LOG_WIDTH
    console = Console(highlight=False, width=width)
    console.print(_title(stack, found), style="bold")
    console.print(table)


def counted(found: Preflight) -> str:
    """Return the number of answers of each kind: `31 ok, 1 warning`."""
    counts = Counter(row.verdict for row in found.rows)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in _STYLES if counts[verdict])


def _title(stack: str, found: Preflight) -> Text:
    account = found.account_id or "an account with unknown id"
    caller = f" as {found.caller_arn}" if found.caller_arn else ""
    return plain(f"{stack}: {account}{caller}, {found.region}")
