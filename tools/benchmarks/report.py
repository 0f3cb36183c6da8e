"""Run tools/benchmarks by name, and report the results as tables, JSON and pictures."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tools.benchmarks import cold_up, commands, growth
from tools.benchmarks.cold_up import ColdUp, CriticalPath, gantt
from tools.benchmarks.growth import Curve
from tools.benchmarks.measuring import Comparison, Spent
from trainyard.pages.plot import picture

LINES: Mapping[str, Callable[[int], list[Comparison]]] = {
    "check": commands.measure_check,
    "lint": commands.measure_lint,
    "pools": growth.measure,
    "preview": commands.measure_preview,
    "parallelcluster": commands.measure_parallelcluster,
}
"""Functions that measure lines of the table, by name; each takes the number of rounds."""
CURVES, PATHS, UPS = "growth", "critical-path", "cold-up"
"""Names of the tools/benchmarks for curves, chains of waits, and the `up` that times them."""
DRAWN = ("p5-cb", "eks-g4dn with Lustre", "pc-trn1", "batch-trn1")
"""Stacks whose `up` becomes a picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The measurements."""

    comparisons: Sequence[Comparison] = ()
    curves: Sequence[Curve] = ()
    paths: Sequence[CriticalPath] = ()
    ups: Sequence[ColdUp] = ()

    @property
    def missed(self) -> list[str]:
        """Names of the lines that exceed their budget."""
        return [each.name for each in self.comparisons if not each.within_budget] + [
            f"{PATHS} of {each.stack}" for each in self.paths if not each.within_budget
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmarks:
    """What can be measured."""

    lines: Mapping[str, Callable[[int], list[Comparison]]]
    curves: Callable[[int], list[Curve]]
    """Takes the number of rounds."""
    paths: Callable[[], list[CriticalPath]]
    ups: Callable[[], list[ColdUp]]

    @property
    def names(self) -> list[str]:
        """The name of every benchmark."""
        return [*self.lines, CURVES, PATHS, UPS]

    def measure(self, wanted: Sequence[str], rounds: int, report: Callable[[str], None]) -> Results:
        """Run the tools/benchmarks with these names, and pass their progress to `report`."""
        comparisons: list[Comparison] = []
        for name, run in self.lines.items():
            if name in wanted:
                report(f"measuring {name}")
                comparisons += run(rounds)
        return Results(
            comparisons=comparisons,
            curves=self.curves(rounds) if CURVES in wanted else [],
            paths=self.paths() if PATHS in wanted else [],
            ups=self.ups() if UPS in wanted else [],
        )


ALL = Benchmarks(
    lines=LINES, curves=growth.curves, paths=cold_up.measure_critical_paths, ups=cold_up.measure
)


def machine() -> dict[str, Any]:
    """Return the properties, apart from the program, that affect the numbers."""
    return {
        "processors": os.cpu_count(),
        "architecture": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
    }


def as_json(results: Results) -> dict[str, Any]:
    """Return everything that was measured, for programs."""
    return {
        "machine": machine(),
        "comparisons": [comparison.as_json() for comparison in results.comparisons],
        "curves": [curve.as_json() for curve in results.curves],
        "critical_paths": [path.as_json() for path in results.paths],
        "cold_ups": [up.as_json() for up in results.ups],
    }


def write(directory: Path, results: Results) -> None:
    """Write `bench.json`, a time and a memory picture per curve, and pictures of some updates."""
    directory.mkdir(parents=True, exist_ok=True)
    text = json.dumps(as_json(results), indent=2) + "\n"
    (directory / "bench.json").write_text(text, encoding="utf-8")
    for curve in results.curves:
        file = "growth-" + "-".join(curve.unit.split())
        seconds = picture(curve.name, curve.unit, curve.seconds, measure="seconds")
        (directory / f"{file}.svg").write_text(seconds, encoding="utf-8")
        memory = picture(curve.name, curve.unit, curve.memory_mib, measure="MiB")
        (directory / f"{file}-memory.svg").write_text(memory, encoding="utf-8")
    for path in results.paths:
        if path.stack in DRAWN:
            file = f"critical-path-{'-'.join(path.stack.split())}.svg"
            (directory / file).write_text(gantt(path), encoding="utf-8")


def show(results: Results) -> None:
    """Print the tables."""
    console = Console(width=150)
    if results.comparisons:
        console.print(_table(results.comparisons))
    for curve in results.curves:
        table = Table(curve.unit, "seconds", "MiB", title=curve.name)
        for size, seconds in curve.seconds.items():
            table.add_row(str(size), f"{seconds:.4f}", f"{curve.memory_mib[size]:.0f}")
        console.print(table)
    if results.paths:
        console.print(_chains(results.paths))
    if results.ups:
        console.print(_ups(results.ups))


def _chains(paths: Sequence[CriticalPath]) -> Table:
    title = "a cold up with typical latencies, in seconds of AWS"
    table = Table("stack", "unavoidable", "longest chain", "ratio", "budget", title=title)
    for each in paths:
        verdict = f"≤ {cold_up.BUDGET:.2f}" + ("" if each.within_budget else ", missed")
        seconds = f"{each.chain.seconds:.0f}", f"{each.times.seconds:.0f}"
        table.add_row(each.stack, *seconds, f"{each.ratio:.3f}", verdict)
    return table


def _ups(ups: Sequence[ColdUp]) -> Table:
    title = f"an up at {cold_up.SCALE:g} of AWS's time, in seconds of AWS"
    table = Table("stack", "computed", "measured", "ratio", title=title)
    for each in ups:
        seconds = f"{each.path.times.seconds:.0f}", f"{each.seconds:.0f}"
        table.add_row(each.path.stack, *seconds, f"{each.ratio:.3f}")
    return table


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
