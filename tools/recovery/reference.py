"""The table of `docs/recovery.md`: how objects of each type are found."""

from __future__ import annotations

from pathlib import Path

from trainyard.workspace.recovery.clusters import KUBERNETES
from trainyard.workspace.recovery.lookups import By
from trainyard.workspace.recovery.table import IN_STATE, LOOKUPS

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "recovery.md"
BEGIN, END = "<!-- table: begin (python -m tools.recovery) -->", "<!-- table: end -->"


def table() -> str:
    """Return the table in Markdown: types that are looked up, then those that are not."""
    rows = [(token, way.by, way.asks) for token, way in sorted(LOOKUPS.items())]
    found = [row for row in rows if row[1] is not By.NOTHING]
    lines = ["| Type | Found by | Call |", "|---|---|---|"]
    lines += [f"| {_type(token)} | {by.value} | {_code(asks)} |" for token, by, asks in found]
    lines += ["", "Not looked up, because creating them again creates no duplicate:", ""]
    lines += ["| Type | Why |", "|---|---|"]
    lines += [f"| {_type(token)} | {why} |" for token, by, why in rows if by is By.NOTHING]
    lines += [f"| components and providers | {IN_STATE.asks} |"]
    return "\n".join(lines)


def with_table(text: str) -> str:
    """Return the document with the current table."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def _type(token: str) -> str:
    return "`kubernetes:…`" if token == KUBERNETES else f"`{token}`"


def _code(asks: str) -> str:
    return f"`{asks}`" if " " not in asks else asks
