"""The preflight of a stack as a table."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from tools.cli.panel import LOG_WIDTH, plain

if TYPE_CHECKING:
    from rich.text import Text

    from components.checks.row import Verdict
    from components.preflight.run import Preflight

_STYLES: dict[Verdict, str] = {
    "ok": "green",
    "warning": "yellow",
    "refused": "bold red",
    "skipped": "dim",
}


def print_preflight(stack: str, found: Preflight) -> None:
    """Print the identity, the region, and one row per answer."""
    table = Table(title=_title(stack, found), title_justify="left", title_style="bold")
    table.add_column("Stack file", overflow="fold", ratio=3)
    table.add_column("Asked", overflow="fold", ratio=3)
    table.add_column("Answer", no_wrap=True)
    table.add_column("Found", overflow="fold", ratio=5)
    for row in found.rows:
        verdict = plain(row.verdict, style=_STYLES[row.verdict])
        table.add_row(plain(row.subject), plain(row.asked), verdict, plain(row.found))
    width = None if sys.stdout.isatty() else LOG_WIDTH
    Console(highlight=False, width=width).print(table)


def counted(found: Preflight) -> str:
    """Return the number of answers of each kind: `31 ok, 1 warning`."""
    counts = Counter(row.verdict for row in found.rows)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in _STYLES if counts[verdict])


def _title(stack: str, found: Preflight) -> Text:
    account = found.account_id or "an account with unknown id"
    caller = f" as {found.caller_arn}" if found.caller_arn else ""
    return plain(f"{stack}: {account}{caller}, {found.region}")
