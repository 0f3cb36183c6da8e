"""`test`: the whole test suite, as CI runs it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import typer

from components.catalog.controller_releases import CONTROLLER_RELEASES
from components.config.pulumi_command import LAUNCHER
from tools.cli import console, failures
from tools.docs.building import docs_python
from tools.engine import ensure_controller, ensure_kubernetes, ensure_plugins, ensure_pulumi
from tools.engine.alert_evaluator import ensure_alert_evaluator
from tools.engine.chromium import ensure_chromium
from tools.engine.locked_environment import locked_python
from tools.engine.progress import Progress
from tools.engine.slurm import ensure_slurm, slurm_is_packaged
from tools.lock import EXAMPLES
from tools.parallelcluster.environment import parallelcluster_python
from tools.workspace.checkout import ROOT

STATIC_CHECKS = (
    ("ruff check", ["ruff", "check", "."]),
    ("ruff format", ["ruff", "format", "--check", "."]),
    ("types", ["basedpyright"]),
    ("import contracts", ["lint-imports"]),
)
"""Commands of the locked environment that run at the same time as the unit tests, by name."""
MAXIMUM_PROCESSES = 4
WHOLE = (
    "changes",
    "corpus",
    "documentation",
    "examples",
    "faults",
    "preflight",
    "sandbox",
    "stacks",
)
"""Directories of tests that run the emulated account, a plugin, or every stack."""
UNIT = "unit"
"""Marker of the other tests, which need no additional program; `tests/conftest.py` sets it."""


def test(context: typer.Context) -> None:
    """Run every check and test. Arguments go to pytest and select tests only.

    Style, types and unit tests run first, in parallel. They need no additional program, so their
    results are available before the engine and the plugins are built. With arguments, only pytest
    runs.
    """
    if context.args:
        passed = _passes_tests(context.args)
    else:
        started = time.monotonic()
        others = [f"--ignore=tests/{directory}" for directory in WHOLE]
        with _checks_in_background() as failed_checks:
            quick = _passes_tests([*_side_by_side(_processors()), *others, "-m", UNIT])
            failed = failed_checks()
        for name in failed:
            console.problem(f"{name} failed; see its output above")
        answer = "ok" if quick and not failed else "failed"
        seconds = time.monotonic() - started
        console.progress(f"style, types and unit tests: {answer}, {seconds:.0f} s")
        _get_programs()
        # An `up` spends half of its time waiting for the account, the cluster and its own parts.
        whole = _passes_tests([*_side_by_side(2 * _processors()), "-m", f"not {UNIT}"])
        passed = quick and whole and not failed
    if not passed:
        raise typer.Exit(failures.WORK_FAILED)


def _passes_tests(arguments: Sequence[str]) -> bool:
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(command, cwd=ROOT, env=_environment(), check=False).returncode == 0


def _processors() -> int:
    return os.cpu_count() or 1


def _side_by_side(processes: int) -> list[str]:
    """Return the arguments that spread groups of tests over processes.

    A group stays in one process, because its tests share a stack that is deployed once.
    `tests/conftest.py` defines the groups and sorts them, the slowest first. Every process can run
    a sandbox, so there are at most four.
    """
    return [
        "-n",
        str(min(MAXIMUM_PROCESSES, processes)),
        "--dist",
        "loadscope",
        "--no-loadscope-reorder",
    ]


def _environment() -> dict[str, str]:
    """Return the environment of a user who starts pytest.

    It lacks the variable with which messages name this launcher, and the one that makes every
    engine recompile the SDKs.
    """
    removed = {LAUNCHER, "PYTHONDONTWRITEBYTECODE"}
    return {name: value for name, value in os.environ.items() if name not in removed}


@contextlib.contextmanager
def _checks_in_background() -> Iterator[Callable[[], list[str]]]:
    """Run all static checks; yield a function that shows their output and returns failures."""
    with ThreadPoolExecutor() as side_by_side:
        running = {name: side_by_side.submit(_checked, cmd) for name, cmd in STATIC_CHECKS}
        yield lambda: [name for name, check in running.items() if not _passes(check.result())]


@dataclass(frozen=True, slots=True)
class _Checked:
    """A static check that has run."""

    summary: str
    output: str
    passed: bool


def _passes(check: _Checked) -> bool:
    """Show the output of a check, and return whether it passed."""
    console.progress(check.summary)
    if check.output:
        console.answer(check.output)
    return check.passed


def _checked(command: list[str]) -> _Checked:
    """Run one check of the locked environment."""
    name, *rest = command
    program = ROOT / ".venv" / "bin" / name
    started = time.monotonic()
    done = subprocess.run(
        [str(program), *rest],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    passed = done.returncode == 0
    said = f"{' '.join(command)}: {'ok' if passed else 'failed'}"
    summary = f"{said}, {time.monotonic() - started:.1f} s"
    return _Checked(summary, done.stdout.rstrip(), passed)


def _get_programs() -> None:
    """Install every program and plugin before the first test needs it."""
    ensure_plugins(console.progress, ensure_pulumi(console.progress))
    ensure_kubernetes(console.progress)
    for name in CONTROLLER_RELEASES:
        ensure_controller(name, console.progress)
    ensure_alert_evaluator(console.progress)
    parallelcluster_python(console.progress)
    if slurm_is_packaged():
        ensure_slurm(console.progress)
    ensure_chromium(console.progress)
    examples_python(console.progress)
    docs_python(console.progress)


def examples_python(report: Progress) -> Path:
    """Return the interpreter with PyTorch, which the tests of `examples` run.

    Raises:
        EngineError: it does not exist and cannot be created.
    """
    return locked_python(ROOT / EXAMPLES.path, "PyTorch", report)
