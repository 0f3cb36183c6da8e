"""Measure the planning time of each stack, and count its resources.

    .venv/bin/python -m benchmarks.stacks [rounds]

The time is that of `./trainyard check` without the start of Python: schema and plan, from the
parsed stack file to the plan. The resources are counted in a preview by the real engine, which
needs a running sandbox (`./trainyard sandbox start`); components and providers are not counted.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from sandbox.account.stacks import completion
from tools.cli.stack_config import plan_of
from tools.workspace.checkout import ROOT
from tools.workspace.completion import completed
from tools.workspace.stack_files import find_stack_file, stack_names

DEFAULT_ROUNDS = 20
NOT_COUNTED = ("trainyard:", "pulumi:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The measurements of one stack."""

    stack: str
    milliseconds: list[float]
    """Time of each plan."""
    resources: Counter[str]
    """By package: `aws`, `kubernetes` …"""


def main() -> None:
    """Measure every stack and print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_ROUNDS
    _print([_measured(stack, rounds) for stack in stack_names()])


def _measured(stack: str, rounds: int) -> Figures:
    stack_file = completed(find_stack_file(stack), completion(find_stack_file(stack)))
    plan_of(stack_file)  # the first one reads the catalog
    milliseconds = []
    for _ in range(rounds):
        started = time.perf_counter()
        plan_of(stack_file)
        milliseconds.append((time.perf_counter() - started) * 1000)
    return Figures(stack=stack, milliseconds=milliseconds, resources=_resources(stack))


def _resources(stack: str) -> Counter[str]:
    done = subprocess.run(
        [str(ROOT / "trainyard"), "plan", stack, "--sandbox", "--json"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    types = (resource["type"] for resource in json.loads(done.stdout)["resources"])
    return Counter(t.partition(":")[0] for t in types if not t.startswith(NOT_COUNTED))


def _print(figures: list[Figures]) -> None:
    packages = sorted({package for each in figures for package in each.resources})
    table = Table("stack", "plan, median", "plan, maximum", "resources", *packages)
    for each in figures:
        table.add_row(
            each.stack,
            f"{statistics.median(each.milliseconds):.1f} ms",
            f"{max(each.milliseconds):.1f} ms",
            str(each.resources.total()),
            *(str(each.resources[package]) for package in packages),
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
