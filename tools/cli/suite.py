"""`test`: the whole test suite, as CI runs it."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import typer

from tools.cli import console, failures

STATIC_CHECKS = (
    ("ruff check", ["ruff", "check", "."]),
    ("ruff format", ["ruff", "format", "--check", "."]),
    ("types", ["basedpyright"]),
    ("import contracts", ["lint-imports"]),
)
"""Checks that run before the tests, by name; commands of the locked environment."""
MAXIMUM_PROCESSES = 4


def test(context: typer.Context) -> None:
    """Run every check and test; arguments go to pytest, and select tests only.

    With arguments only pytest runs, for the part that is being worked on.
    """
    from tools.workspace.stack_files import ROOT

    arguments = list(context.args)
    failed = [] if arguments else [name for name, command in STATIC_CHECKS if not _passes(command)]
    _get_programs(arguments)
    for name in failed:
        console.problem(f"{name} failed; what it said stands above")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *(arguments or _side_by_side())],
        cwd=ROOT,
        env=_environment(),
        check=False,
    )
    if done.returncode != 0 or failed:
        raise typer.Exit(failures.WORK_FAILED)


def _side_by_side() -> list[str]:
    """Return the arguments that spread test files over the processors.

    A file stays in one process: some bring a stack up once for all of their tests. Every process
    may run a sandbox, so there are never more than four.
    """
    return ["-n", str(min(MAXIMUM_PROCESSES, os.cpu_count() or 1)), "--dist", "loadfile"]


def _environment() -> dict[str, str]:
    """Return the environment without what would make every engine compile the SDKs anew."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def _passes(command: list[str]) -> bool:
    """Run one check of the locked environment and show what it says."""
    from tools.workspace.stack_files import ROOT

    name, *rest = command
    program = ROOT / ".venv" / "bin" / name
    started = time.monotonic()
    passed = subprocess.run([str(program), *rest], cwd=ROOT, check=False).returncode == 0
    console.progress(f"{name}: {'ok' if passed else 'failed'}, {time.monotonic() - started:.1f} s")
    return passed


def _get_programs(arguments: list[str]) -> None:
    """Get engine, Kubernetes programs and ParallelCluster before the first test waits for them."""
    if arguments:
        return
    from tools.engine import ensure_kubernetes, ensure_pulumi
    from tools.parallelcluster.environment import parallelcluster_python

    ensure_pulumi(console.progress)
    ensure_kubernetes(console.progress)
    parallelcluster_python(console.progress)
