"""The tables of facts about answers of AWS, one file for each operation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from trainyard.acceptance.shapes import Table, table_of

HERE = Path(__file__).parents[1]
TABLES = HERE / "tables"


def read(path: Path) -> Table:
    """Return the table in a file."""
    return table_of(json.loads(path.read_text(encoding="utf-8")))


@cache
def tables() -> Mapping[str, Table]:
    """Return all tables, by operation."""
    found = (read(path) for path in sorted(TABLES.glob("*.*.json")))
    return {table.operation: table for table in found}
