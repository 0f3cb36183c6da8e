"""Prove that the tests notice wrong decisions: `python -m tools.mutations [NAME ...]`.

Each mutation is applied to a copy of the checkout, and the tests that are known to notice it run
there. The checkout itself is not changed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from queue import SimpleQueue
from typing import Literal

from tools.mutations import Mutation, OutdatedError, mutations
from tools.repository import ROOT, copy_repository
from tools.suite import Repository

FAILED, WRONG_USE = 1, 2
TIMEOUT_SECONDS = 900
"""After this time pytest is interrupted: a mutation can let tests wait for ever."""
PASSED, TESTS_FAILED = 0, 1
"""Exit codes of pytest. https://docs.pytest.org/en/stable/reference/exit-codes.html"""


def main(arguments: Sequence[str]) -> int:
    """Run mutations. Return 1 if one of them is not noticed, 2 if none was run."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutations", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="mutations to run; all by default")
    parser.add_argument("--list", action="store_true", help="list the mutations and run nothing")
    parser.add_argument("--processes", type=int, default=1, help="runs of pytest at the same time")
    parser.add_argument(
        "--unverified",
        action="store_true",
        help="do not run the tests first without a mutation; for a checkout whose tests pass",
    )
    parser.add_argument(
        "--since",
        action="store_true",
        help="run no test; ask whether `test --since` would select one that notices the mutation",
    )
    options = parser.parse_args(arguments)
    every = mutations()
    unknown = {*options.names} - {each.name for each in every}
    if unknown:
        sys.stderr.write(f"no mutation {', '.join(sorted(unknown))}; --list shows all\n")
        return WRONG_USE
    chosen = [each for each in every if not options.names or each.name in options.names]
    if options.list:
        sys.stdout.writelines(f"{each.name}: {each.noticed}\n" for each in chosen)
        return 0
    if options.since:
        return _reported(_selected(chosen))
    try:
        return _reported(
            verdicts(chosen, ROOT, processes=options.processes, verified=not options.unverified)
        )
    except FailingTestsError as error:
        sys.stderr.write(f"{error}\n")
        return WRONG_USE


def _reported(found: Iterable[Verdict]) -> int:
    """Write a line for each verdict as it becomes known, and their number at the end."""
    every: list[Verdict] = []
    for each in found:
        every.append(each)
        sys.stdout.write(
            f"{each.word:8}  {each.seconds:5.1f} s  {each.mutation.name:48}  {each.detail}\n"
        )
        sys.stdout.flush()
    killed = sum(each.is_killed for each in every)
    sys.stdout.write(f"{killed} of {len(every)} mutations are noticed\n")
    return 0 if killed == len(every) else FAILED


def _selected(chosen: Sequence[Mutation]) -> Iterator[Verdict]:
    """Yield whether `test --since` selects a test of `killed_by` when only the file has changed."""
    repository = Repository(ROOT)
    for mutation in chosen:
        tests = {test.partition("::")[0] for test in mutation.killed_by}
        found = sorted(tests & {*repository.selected([mutation.file]).files})
        if found:
            yield Verdict(mutation=mutation, word="killed", detail=found[0])
        else:
            detail = f"a change of {mutation.file} selects none of {', '.join(sorted(tests))}"
            yield Verdict(mutation=mutation, word="SURVIVED", detail=detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of one mutation."""

    mutation: Mutation
    word: Literal["killed", "SURVIVED", "OUTDATED", "UNCLEAR"]
    """`OUTDATED`: the row does not fit the code. `UNCLEAR`: pytest ended without a failed test."""
    detail: str
    """The test that failed, or what to correct."""
    seconds: float = 0.0

    @property
    def is_killed(self) -> bool:
        """Whether a test noticed the mutation."""
        return self.word == "killed"


class FailingTestsError(Exception):
    """Tests fail without a mutation, so that their failure proves nothing."""


def verdicts(
    chosen: Sequence[Mutation], root: Path, *, processes: int, verified: bool
) -> Iterator[Verdict]:
    """Yield the verdict of each mutation as soon as it is known.

    Args:
        chosen: The mutations.
        root: The checkout, which is not changed.
        processes: How many runs of pytest work at the same time, each in its own copy.
        verified: Whether the tests must pass first without a mutation.

    Raises:
        FailingTestsError: they do not.
    """
    with (
        tempfile.TemporaryDirectory(prefix="trainyard-mutations-") as directory,
        ThreadPoolExecutor(processes) as pool,
    ):
        copies: SimpleQueue[CheckoutCopy] = SimpleQueue()
        for number in range(processes):
            place = Path(directory) / str(number)
            place.mkdir()
            copies.put(CheckoutCopy(root, place))
        if verified:
            groups = dict.fromkeys(each.killed_by for each in chosen)
            list(pool.map(_require_passing, groups, repeat(copies)))
        running = [pool.submit(_verdict, mutation, copies) for mutation in chosen]
        try:
            for done in as_completed(running):
                yield done.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _require_passing(tests: Sequence[str], copies: SimpleQueue[CheckoutCopy]) -> None:
    copy = copies.get()
    try:
        done = copy.test(tests)
    finally:
        copies.put(copy)
    if done.exit_code != PASSED:
        raise FailingTestsError(f"{' '.join(tests)} fails without a mutation:\n{done.output}")


def _verdict(mutation: Mutation, copies: SimpleQueue[CheckoutCopy]) -> Verdict:
    copy = copies.get()
    try:
        with copy.changed(mutation):
            done = copy.test(mutation.killed_by)
    except OutdatedError as error:
        return Verdict(mutation=mutation, word="OUTDATED", detail=str(error))
    finally:
        copies.put(copy)
    return _judged(mutation, done)


def _judged(mutation: Mutation, done: PytestRun) -> Verdict:
    word, detail = "UNCLEAR", _last_line(done)
    if done.exit_code == PASSED:
        word = "SURVIVED"
        detail = f"{mutation.noticed} No test of `killed_by` in {mutation.table} fails."
    elif done.exit_code == TESTS_FAILED and done.failed:
        word, detail = "killed", done.failed
    return Verdict(mutation=mutation, word=word, detail=detail, seconds=done.seconds)


def _last_line(done: PytestRun) -> str:
    if done.exit_code is None:
        return "the tests did not end in time"
    # A sandbox that does not start on a busy machine is an error of a fixture.
    return f"no test failed: {(done.output.strip().splitlines() or [''])[-1]}"


@dataclass(frozen=True, slots=True)
class PytestRun:
    """The result of a run of pytest."""

    exit_code: int | None
    """None if it did not end in time."""
    seconds: float
    output: str

    @property
    def failed(self) -> str:
        """The first test that failed; empty without one."""
        lines = (line for line in self.output.splitlines() if line.startswith("FAILED "))
        return next((line.split()[1] for line in lines), "")


class CheckoutCopy:
    """The files that git tracks or would add, with a link to the environment of the checkout."""

    def __init__(self, root: Path, place: Path) -> None:
        """Copy the files of a checkout to an empty directory."""
        self._root, self._place = root, place
        self._changes = 0
        copy_repository(root, place)
        # Tests ask git for the files of the checkout.
        subprocess.run(["git", "init", "--quiet"], cwd=place, check=True)
        (place / ".git" / "info" / "exclude").write_text(".venv\n", encoding="utf-8")

    @contextlib.contextmanager
    def changed(self, mutation: Mutation) -> Iterator[None]:
        """Apply a mutation while the block runs.

        Raises:
            OutdatedError: it cannot be applied.
        """
        text = mutation.mutated(self._place)
        path = self._place / mutation.file
        path.write_text(text, encoding="utf-8")
        # Python compiles a file again if its size or its second of change differs: two changes of
        # the same length within a second would be the same to it.
        self._changes += 1
        original = (self._root / mutation.file).stat().st_mtime
        os.utime(path, (original, original + self._changes))
        try:
            yield
        finally:
            # With its time: Python then uses the compiled file from before the change.
            shutil.copy2(self._root / mutation.file, path)

    def test(self, tests: Sequence[str]) -> PytestRun:
        """Run tests until the first one fails."""
        python = self._place / ".venv" / "bin" / "python"
        options = ["-x", "-q", "--tb=short", "-p", "no:cacheprovider"]
        started = time.monotonic()
        process = subprocess.Popen(
            [python, "-m", "pytest", *options, *tests],
            cwd=self._place,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        in_time = True
        try:
            output, _ = process.communicate(timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            in_time = False
            # After an interrupt, fixtures end the sandboxes that they have started.
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate()
        return PytestRun(
            exit_code=process.returncode if in_time else None,
            seconds=time.monotonic() - started,
            output=output,
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
