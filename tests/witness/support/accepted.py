"""Write tables of facts from an acceptance: `python -m tests.witness.support.accepted FILE`.

The file is the `shapes.json` of an acceptance on AWS. It becomes the table of each operation that
the program calls and that has none from recordings.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from tests.witness.support.calls import called
from tests.witness.support.tables import TABLES, read
from trainyard.acceptance.answers import RECORDINGS, REPOSITORY
from trainyard.acceptance.shapes import Table, table_of


def main() -> None:
    """Write the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file", type=Path)
    for table in new_tables(options.parse_args().file, TABLES):
        (TABLES / f"{table.operation}.json").write_text(table.text(), encoding="utf-8")


def new_tables(shapes: Path, known: Path) -> Iterator[Table]:
    """Yield the tables of an acceptance that are better evidence than those in a directory.

    What an emulator has answered is evidence of nothing.
    """
    for written in json.loads(shapes.read_text(encoding="utf-8"))["tables"]:
        table = table_of(written)
        path = known / f"{table.operation}.json"
        has_better = path.is_file() and read(path).evidence == RECORDINGS
        is_used = table.operation in called() and table.evidence == RECORDINGS and table.states
        if is_used and not has_better:
            yield table


def is_of_acceptance(table: Table) -> bool:
    """Return whether a table is of an acceptance, which no other recordings can replace."""
    return any(source["repository"] == REPOSITORY for source in table.sources)


if __name__ == "__main__":
    main()
