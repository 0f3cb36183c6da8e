"""`lint` of every file of the corpus, compared with one, as whole processes.

Each further file costs reading, conversion, plan and report; Python and the models are loaded once,
and the grammar of HCL, which python-hcl2 keeps in a file, once in a process.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tools.benchmarks.measuring import Comparison, alternate, run_process
from tools.repository import ROOT

CORPUS = ROOT / "tests" / "trainyard" / "importing" / "corpus"
SECONDS_A_FILE = 0.05


def measure(rounds: int) -> list[Comparison]:
    """Return the lines of the table; the budget grows with the number of files."""
    # Not those that `lint` refuses, in the folders below.
    files = sorted(CORPUS.glob("*/*.yaml"))
    directories = sorted({each.parent for each in CORPUS.glob("terraform/*/*.tf")})
    # Of one kind of stack, whose planner is loaded once; the plan is the further file.
    plans = sorted(CORPUS.glob("terraform/eks*.json"), reverse=True)
    return [
        _measured("lint", "files", files, len(files), rounds),
        _measured(
            "lint-terraform",
            "directories of Terraform",
            directories,
            len([*CORPUS.glob("terraform/*/*.tf")]),
            rounds,
        ),
        _measured("lint-plans", "plans and states of EKS", plans, len(plans), rounds),
    ]


def _measured(name: str, what: str, paths: Sequence[Path], files: int, rounds: int) -> Comparison:
    """Return the line of several paths, in which there are so many files."""
    of, against = f"lint of {len(paths)} {what}", f"lint of one of the {what}"
    runs = alternate(
        {
            against: lambda: run_process([ROOT / "trainyard", "lint", paths[0]]),
            of: lambda: run_process([ROOT / "trainyard", "lint", *paths]),
        },
        rounds,
    )
    return Comparison(
        name=name,
        of=of,
        against=against,
        budget=None,
        budget_seconds_over=SECONDS_A_FILE * (files - 1),
        runs=runs,
    )
