"""`test`: a quick answer, the whole test suite, or a part of it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated

import typer

from tools import suite
from tools.repository import ROOT
from tools.suite import CONTRACTS, LEFT_OUT, STYLE, TESTS, Check, Step
from trainyard.cli import console, failures
from trainyard.components.typed_command import LAUNCHER

NO_TESTS = 5
"""Exit code of pytest that found no test.
https://docs.pytest.org/en/stable/reference/exit-codes.html"""
RunTests = Callable[[Sequence[str]], int]
"""Runs pytest with arguments, and returns its exit code."""


def test(
    context: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", help="Run the whole suite, as CI does.")
    ] = False,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="REVISION",
            help="Run the tests that the changes since a git revision can have broken.",
        ),
    ] = None,
) -> None:
    """Test this checkout: style, types, contracts, unit tests, and three short lives of stacks.

    A life brings up and destroys one stack of EKS, Slurm and Batch in a sandbox. Instead,
    `test PART...` runs parts: style, types, contracts, unit, lives, directories such as capacity
    or components/capacity, and files such as capacity/test_purchase.py, with or without
    ::test_name. Paths may omit tests/. Options that are not listed here go to pytest.
    """
    given = [bool(context.args), everything, since is not None]
    if sum(given) > 1:
        raise failures.WrongUseError(
            "--all, --since and parts exclude each other; name one of them"
        )
    processors = os.cpu_count() or 1
    if everything:
        succeed(run(suite.everything(processors)))
        return
    if since is not None:
        succeed(run(_since(since, processors)))
        console.progress(
            "left out: types, and tests that do not depend on the changed files; "
            "all of them: ./trainyard test --all"
        )
        return
    if context.args:
        succeed(run(_named(context.args, processors)))
        return
    passed = run(suite.quick(processors))
    console.progress("left out, all of it runs with ./trainyard test --all:")
    for directory, proves in LEFT_OUT.items():
        console.progress(f"  {TESTS}/{directory}: {proves}")
    succeed(passed)


def succeed(passed: bool) -> None:
    """End the command with an error unless everything passed."""
    if not passed:
        raise typer.Exit(failures.WORK_FAILED)


def _since(revision: str, processors: int) -> list[Step]:
    # The help of `test` needs no test tools.
    from tools.suite import Repository, changed_since

    try:
        changed = changed_since(revision, ROOT)
    except subprocess.CalledProcessError as error:
        raise failures.WrongUseError(
            f"git cannot compare with {revision!r}: {error.stderr.strip()}"
        ) from error
    selection = Repository(ROOT).selected(changed)
    if selection.everything_because_of:
        console.progress(f"every test depends on {selection.everything_because_of}")
    console.progress(f"{len(changed)} changed files, {len(selection.files)} test files")
    style = Step(name="style and import contracts", checks=(*STYLE, *CONTRACTS))
    return [*suite.of_files(selection.files, processors, ROOT), style]


def _named(arguments: Sequence[str], processors: int) -> list[Step]:
    """Return the steps of parts; what is not the name of a part goes to pytest."""
    known = suite.parts(processors)
    found = [known[each] for each in arguments if each in known]
    rest = [_path(each) for each in arguments if each not in known]
    return [*found, Step(name="tests", pytest=tuple(rest))] if rest else found


def _path(argument: str) -> str:
    """Return the path of the tests that an argument names, or the argument itself."""
    if argument.startswith(("-", TESTS)):
        return argument
    named, separator, test_name = argument.partition("::")
    folder = named.strip("/").removeprefix("components/").removeprefix("src/")
    path = f"{TESTS}/{folder}"
    return f"{path}{separator}{test_name}" if (ROOT / path).exists() else argument


def pytest_exit_code(arguments: Sequence[str]) -> int:
    """Run pytest in a process of its own."""
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment(), check=False).returncode


def environment() -> dict[str, str]:
    """Return the environment of a user who starts pytest.

    It lacks the variable with which messages name this launcher, and the one that makes every
    engine recompile the SDKs.
    """
    removed = {LAUNCHER, "PYTHONDONTWRITEBYTECODE"}
    return {name: value for name, value in os.environ.items() if name not in removed}


def run(todo: Sequence[Step], run_tests: RunTests = pytest_exit_code) -> bool:
    """Run all steps, also after a failure, and return whether everything passed."""
    results = [_passes(step, run_tests) for step in todo]
    return all(results)


def _passes(step: Step, run_tests: RunTests) -> bool:
    started = time.monotonic()
    with _checks_in_background(step.checks) as failed_checks:
        if step.get_programs is not None:
            step.get_programs(console.progress)
        code = run_tests(step.pytest) if step.pytest else 0
        failed = failed_checks()
    for name in failed:
        console.problem(f"{name} failed; see its output above")
    empty = step.can_be_empty and code == NO_TESTS
    passed = not failed and (code == 0 or empty)
    answer = "ok" if passed else "failed"
    console.progress(f"{step.name}: {answer}, {time.monotonic() - started:.0f} s")
    return passed


@contextlib.contextmanager
def _checks_in_background(checks: Sequence[Check]) -> Iterator[Callable[[], list[str]]]:
    """Run static checks; yield a function that shows their output and returns failures."""
    with ThreadPoolExecutor() as side_by_side:
        running = {check.name: side_by_side.submit(_checked, check) for check in checks}
        yield lambda: [name for name, check in running.items() if not _shown(check.result())]


@dataclass(frozen=True, slots=True)
class _Checked:
    """A static check that has run."""

    summary: str
    output: str
    passed: bool


def _shown(check: _Checked) -> bool:
    """Show the output of a check, and return whether it passed."""
    console.progress(check.summary)
    if check.output:
        console.answer(check.output)
    return check.passed


def _checked(check: Check) -> _Checked:
    """Run one check of the locked environment."""
    name, *rest = check.command
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
    said = f"{' '.join(check.command)}: {'ok' if passed else 'failed'}"
    summary = f"{said}, {time.monotonic() - started:.1f} s"
    return _Checked(summary, done.stdout.rstrip(), passed)
