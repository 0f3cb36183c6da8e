"""Measure the cost of the program and its policy pack in a preview.

It compares the program with a flat one that registers the same resources with literal inputs, and
the whole policy pack with a pack of one rule. It requires a running sandbox (`./trainyard sandbox
start`), whose emulated provider plugins are the same for every side.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tools.benchmarks.measuring import Comparison, Run, Spent, alternate
from tools.benchmarks.projects import (
    Project,
    empty_program,
    flat_program,
    pack_of_one_rule,
    project,
)
from tools.repository import ROOT

BUDGET_OF_PROGRAM = 1.10
BUDGET_OF_PACK = 1.25
BUDGET_OF_PACK_SECONDS = 1.0
PROGRAM, FLAT, EMPTY = "the program", "a flat program", "an empty program"
PACK, ONE_RULE = "with the policy pack", "with a pack of one rule"


def measure(
    rounds: int,
    *,
    project_of: Callable[[Path, str, Path], Project] = project,
    flat: Callable[[Path], Path] = flat_program,
) -> list[Comparison]:
    """Return the lines of the table; an empty program is one of the sides.

    Args:
        rounds: The number of rounds.
        project_of: Returns the project with a name that runs the program of a directory.
        flat: Writes the flat program, and returns its directory.
    """
    with tempfile.TemporaryDirectory(prefix="trainyard-bench-") as directory:
        runs = alternate(_sides(Path(directory), project_of, flat), rounds)
    return [
        _line("preview", PROGRAM, FLAT, runs, budget=BUDGET_OF_PROGRAM),
        _line("policies", PACK, ONE_RULE, runs, budget=BUDGET_OF_PACK),
        _line("pack", PACK, PROGRAM, runs, budget_seconds_over=BUDGET_OF_PACK_SECONDS),
    ]


def _line(
    name: str,
    of: str,
    against: str,
    runs: Mapping[str, Sequence[Spent]],
    *,
    budget: float | None = None,
    budget_seconds_over: float | None = None,
) -> Comparison:
    return Comparison(
        name=name,
        of=of,
        against=against,
        runs=runs,
        budget=budget,
        budget_seconds_over=budget_seconds_over,
    )


def _sides(
    scratch: Path,
    project_of: Callable[[Path, str, Path], Project],
    flat_program: Callable[[Path], Path],
) -> dict[str, Run]:
    program = project_of(scratch, "program", ROOT)
    flat = project_of(scratch, "flat", flat_program(scratch))
    empty = project_of(scratch, "empty", empty_program(scratch))
    one_rule = pack_of_one_rule(scratch)
    return {
        PROGRAM: program.preview,
        FLAT: flat.preview,
        EMPTY: empty.preview,
        PACK: lambda: program.preview("--policy-pack", str(ROOT / "policies")),
        ONE_RULE: lambda: program.preview("--policy-pack", str(one_rule)),
    }
