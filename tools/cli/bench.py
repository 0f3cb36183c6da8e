"""`bench`: what the program costs, each figure beside another of the same run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tools.cli import console, failures, options


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Benchmarks: check, pools, preview, parallelcluster, growth, critical-path, "
            "cold-up; or all."
        ),
    ] = None,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds after the first.")] = 5,
    directory: Annotated[
        Path | None, typer.Option("--output", help="Where bench.json and the pictures go.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure the program: time as a multiple of what it is compared with, and growth.

    `preview`, `parallelcluster` and `cold-up` need a sandbox that runs.
    """
    from benchmarks import report
    from tools.workspace.stack_files import OWN_FILES

    known = report.names()
    unknown = [name for name in names or [] if name not in known]
    if unknown:
        raise failures.WrongUseError(
            f"there is no benchmark {', '.join(unknown)}; there are {', '.join(known)}"
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
