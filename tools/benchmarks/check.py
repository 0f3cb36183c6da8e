"""`check` as a whole process, compared with Python that imports only the required packages.

One run checks a stack with a complete stack file, another run checks all stacks. The second costs
more only by their plans, because Python and the schema are loaded once.
"""

from __future__ import annotations

import sys

from tools.benchmarks.measuring import Comparison, Run, alternate, run_process
from tools.repository import ROOT
from trainyard.stack_files.stack_files import stack_names

STACK = "dev"
IMPORTS = "import pydantic, yaml"
BUDGET_OF_ONE = 3.0
BUDGET_OF_ALL = 2.0


def measure(rounds: int) -> list[Comparison]:
    """Return both lines of the table."""
    stacks = stack_names()
    of_one, of_all, against = "check of one stack", f"check of {len(stacks)} stacks", IMPORTS
    sides: dict[str, Run] = {
        against: lambda: run_process([sys.executable, "-c", IMPORTS]),
        of_one: lambda: run_process([ROOT / "trainyard", "check", STACK]),
        of_all: lambda: run_process([ROOT / "trainyard", "check", "--sandbox", *stacks]),
    }
    runs = alternate(sides, rounds)
    return [
        Comparison(name="check", of=of_one, against=against, budget=BUDGET_OF_ONE, runs=runs),
        Comparison(name="check-all", of=of_all, against=of_one, budget=BUDGET_OF_ALL, runs=runs),
    ]
