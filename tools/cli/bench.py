"""`bench`: the cost of the program, as ratios of figures of the same run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks import report
from tools.cli import console, failures, options
from tools.workspace.checkout import OWN_FILES


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Benchmarks: check, lint, pools, preview, parallelcluster, growth, critical-path, "
            "cold-up; or all."
        ),
    ] = None,
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, help="Number of rounds after the first one.")
    ] = 5,
    directory: Annotated[
        Path | None, typer.Option("--output", help="Directory for bench.json and the charts.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure the program: times as multiples of a reference in the same run, and growth.

    `preview`, `parallelcluster` and `cold-up` need a running sandbox.
    """
    known = report.names()
    unknown = [name for name in names or [] if name not in known]
    if unknown:
        raise failures.WrongUseError(
            f"there is no benchmark {', '.join(unknown)}; available: {', '.join(known)}"
        )
    results = report.measure(names or known, rounds, console.progress)
    target = directory or OWN_FILES / "bench"
    report.write(target, results)
    if as_json:
        console.answer_json(report.as_json(results))
    else:
        report.show(results)
    console.progress(f"written: {target / 'bench.json'}")
    if results.missed:
        console.problem(f"over the budget: {', '.join(results.missed)}")
        raise typer.Exit(failures.WORK_FAILED)
