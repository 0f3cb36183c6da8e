"""`lint` of every file of the corpus, compared with one, as whole processes.

Each further file costs reading, conversion, plan and report; Python and the models are loaded once.
"""

from __future__ import annotations

from benchmarks.measuring import Comparison, alternate, run_process
from tools.workspace.checkout import ROOT

CORPUS = ROOT / "tests" / "tools" / "importing" / "corpus"
SECONDS_A_FILE = 0.05


def measure(rounds: int) -> list[Comparison]:
    """Return the line of the table; the budget grows with the number of files."""
    files = sorted(CORPUS.glob("*/*.yaml"))  # not those that `lint` refuses
    of, against = f"lint of {len(files)} files", "lint of one"
    runs = alternate(
        {
            against: lambda: run_process([ROOT / "trainyard", "lint", files[0]]),
            of: lambda: run_process([ROOT / "trainyard", "lint", *files]),
        },
        rounds,
    )
    return [
        Comparison(
            name="lint",
            of=of,
            against=against,
            budget=None,
            budget_seconds_over=SECONDS_A_FILE * (len(files) - 1),
            runs=runs,
        )
    ]
