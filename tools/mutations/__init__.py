"""Changes that break one decision each, and the tests that must notice them.

`python -m tools.mutations` applies every mutation of the tables `*.toml` to a copy of the checkout
and runs the tests that are known to fail then. A mutation that survives shows that a test was
removed or weakened.

mutmut 3 and cosmic-ray generate mutants with operators, such as another comparison, in every line
of a module, and run the same tests for all of them. For these packages that would be tens of
thousands of mutants, most of them equivalent or without a consequence for users, and neither tool
runs a fixed list of changes with the tests of each. So this is a list, and a small program.
"""

from __future__ import annotations

import ast
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TABLES = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """A change of one file that breaks a decision."""

    name: str
    table: str
    """File name of the table with its row."""
    file: str
    """Path of the changed file, relative to the checkout."""
    old: str
    """Text that occurs exactly once in the file."""
    new: str
    noticed: str
    """What a user would notice."""
    killed_by: tuple[str, ...]
    """Tests of which at least one fails with the change: files or node ids of pytest."""

    def mutated(self, root: Path) -> str:
        """Return the text of the file with the change.

        Raises:
            OutdatedError: the file does not exist, or does not have the old text exactly once.
        """
        path = root / self.file
        text = path.read_text(encoding="utf-8") if path.is_file() else None
        if text is None:
            raise self._outdated(f"{self.file} does not exist")
        if (count := text.count(self.old)) != 1:
            raise self._outdated(f"`old` occurs {count} times in {self.file}, not once")
        return text.replace(self.old, self.new)

    def problems(self, root: Path) -> Iterator[str]:
        """Yield why the mutation proves nothing in a checkout: where to correct its row."""
        try:
            text = self.mutated(root)
        except OutdatedError as error:
            yield str(error)
        else:
            if not _parses(self.file, text):
                yield str(self._outdated(f"with `new`, {self.file} has a syntax error"))
        for test in self.killed_by:
            if not _exists(root, test):
                yield str(self._outdated(f"`killed_by` names {test}, which does not exist"))

    def _outdated(self, reason: str) -> OutdatedError:
        return OutdatedError(f"{self.name}: {reason}; correct its row in {self.table}")


class OutdatedError(Exception):
    """The row of a mutation no longer fits the checkout."""


def mutations() -> list[Mutation]:
    """Return the mutations of all tables."""
    return [each for path in sorted(TABLES.glob("*.toml")) for each in _read(path)]


def _read(path: Path) -> Iterator[Mutation]:
    rows: dict[str, dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))
    for name, row in rows.items():
        tests = tuple(row.pop("killed_by"))
        yield Mutation(name=name, table=path.name, killed_by=tests, **row)


def _parses(file: str, text: str) -> bool:
    if not file.endswith(".py"):
        done = subprocess.run(["sh", "-n"], input=text, text=True, capture_output=True, check=False)
        return done.returncode == 0
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _exists(root: Path, test: str) -> bool:
    """Return whether a file has the function that a node id names."""
    file, _, function = test.partition("::")
    path = root / file
    if not path.is_file():
        return False
    name = function.rpartition("::")[2].partition("[")[0]
    return not name or f"def {name}(" in path.read_text(encoding="utf-8")
