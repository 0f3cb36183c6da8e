"""The parts of the test suite: what each answers, and what the quick answer leaves out."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

TESTS = "tests"
UNIT = "unit"
"""Marker of the tests that need no additional program; `tests/conftest.py` sets it."""
LIFE = "life"
"""Marker of one short life of a stack of each architecture: up and destroyed."""
LIVES = "tests/stacks/test_lives_of_the_family.py"
"""The file with the tests that have the marker `LIFE`."""
LEFT_OUT: Mapping[str, str] = {
    "changes": "the update that each key of each stack file causes: minutes of processor time",
    "corpus": "known misconfigurations, through every stage up to the emulated account",
    "documentation": "the site, which needs Sphinx and Chromium",
    "examples": "training programs, which need PyTorch",
    "faults": "failing calls, killed processes, and what is left behind",
    "preflight": "checks of an account, against the emulated one",
    "sandbox": "the emulated account itself, and its programs",
    "stacks": "all other lives of whole stacks",
}
"""Directories of tests that run the emulated account, a plugin or every stack, and what they prove.

`./trainyard test` leaves them out, except for `LIVES`."""
SLOWEST_FIRST = ("first", "sandbox", "parallelcluster", "engine", "kubernetes", "browser")
"""Markers of tests that take minutes, a minute, and seconds."""
UNMARKED = f"not ({' or '.join(SLOWEST_FIRST)})"
"""Expression for the tests that have none of these markers: more than the unit tests."""
_SLOW = re.compile(rf"\bmark\.({'|'.join(SLOWEST_FIRST)})\b")


@dataclass(frozen=True, slots=True)
class Check:
    """A static check: a program of the locked environment that reads the whole repository."""

    name: str
    command: tuple[str, ...]


STYLE = (
    Check("ruff check", ("ruff", "check", ".")),
    Check("ruff format", ("ruff", "format", "--check", ".")),
)
TYPES = (Check("types", ("basedpyright",)),)
CONTRACTS = (Check("import contracts", ("lint-imports",)),)


def is_whole(path: str | PurePosixPath) -> bool:
    """Return whether a test file, by its path below the root, lies in a directory of `LEFT_OUT`."""
    return PurePosixPath(path).parts[1] in LEFT_OUT


@functools.cache
def slow_markers(file: Path) -> frozenset[str]:
    """Return the markers of tests that need an additional program, which a test file names."""
    return frozenset(_SLOW.findall(file.read_text(encoding="utf-8")))
