"""Every benchmark by its name, and what came of them as a table, as JSON and as pictures."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import check, growth, parallelcluster, preview
from benchmarks.growth import Curve
from benchmarks.measuring import Comparison, Spent
from benchmarks.plot import picture

BENCHMARKS: Mapping[str, Callable[[int], list[Comparison]]] = {
    "check": check.measure,
    "pools": growth.measure,
    "preview": preview.measure,
    "parallelcluster": parallelcluster.measure,
}
"""What measures lines of the table, by name; each takes the number of rounds."""
CURVES = "growth"
"""The name under which the curves are asked for."""


def machine() -> dict[str, Any]:
    """Return what the numbers depend on besides the program."""
    return {
        "processors": os.cpu_count(),
        "architecture": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
    }


def as_json(comparisons: Sequence[Comparison], curves: Sequence[Curve]) -> dict[str, Any]:
    """Return everything that was measured, for programs."""
    return {
        "machine": machine(),
        "comparisons": [comparison.as_json() for comparison in comparisons],
        "curves": [curve.as_json() for curve in curves],
    }


def write(directory: Path, comparisons: Sequence[Comparison], curves: Sequence[Curve]) -> None:
    """Write `bench.json` and two pictures a curve, of its time and its memory."""
    directory.mkdir(parents=True, exist_ok=True)
    text = json.dumps(as_json(comparisons, curves), indent=2) + "\n"
    (directory / "bench.json").write_text(text, encoding="utf-8")
    for curve in curves:
        file = "-".join(curve.unit.split())
        seconds = picture(curve.name, curve.unit, curve.seconds, measure="seconds")
        (directory / f"{file}-seconds.svg").write_text(seconds, encoding="utf-8")
        memory = picture(curve.name, curve.unit, curve.memory_mib, measure="MiB")
        (directory / f"{file}-memory.svg").write_text(memory, encoding="utf-8")


def show(comparisons: Sequence[Comparison], curves: Sequence[Curve]) -> None:
    """Print the tables."""
    console = Console(width=150)
    if comparisons:
        console.print(_table(comparisons))
    for curve in curves:
        table = Table(curve.unit, "seconds", "MiB", title=curve.name)
        for size, seconds in curve.seconds.items():
            table.add_row(str(size), f"{seconds:.4f}", f"{curve.memory_mib[size]:.0f}")
        console.print(table)


def _table(comparisons: Sequence[Comparison]) -> Table:
    table = Table(
        *("benchmark", "side", "minimum", "median", "by the clock"),
        *("processor ratio", "clock ratio", "budget"),
    )
    for each in comparisons:
        verdict = "" if each.budget is None else f"≤ {each.budget:.2f}"
        if each.budget_seconds_over is not None:
            verdict += f"≤ + {each.budget_seconds_over:.1f} s"
        missed = "" if each.within_budget else ", missed"
        table.add_row(each.name, each.against, *_cells(each.runs[each.against]))
        ratios = f"{each.processor_ratio:.2f}", f"{each.ratio:.2f}"
        of = _cells(each.runs[each.of])
        table.add_row("", each.of, *of, *ratios, verdict + missed, end_section=True)
    return table


def _cells(runs: Sequence[Spent]) -> tuple[str, str, str]:
    processor = [spent.processor_seconds for spent in runs]
    wall = statistics.median(spent.wall_seconds for spent in runs)
    return f"{min(processor):.3f} s", f"{statistics.median(processor):.3f} s", f"{wall:.3f} s"
