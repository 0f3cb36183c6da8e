"""Runs the steps of an acceptance: in order, until its time is over, and the deletion in any case.

What was made costs money until it is deleted. So the deletion also runs after a failed step, after
the time limit, and without space for a log; what fails or is interrupted runs again in the next run
of the command.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import IO

from components import clock
from tools.acceptance import ANSWER_SHAPES, ANSWERS
from tools.acceptance.provenance import shown_command
from tools.acceptance.steps import Done, Record, Step, judged, log_of

DELETIONS = 3
"""How often a failing deletion is tried in one run: a lost connection, or an object that another
one still uses, is often over a minute later."""
PAUSE_SECONDS = 60.0
"""Between two of them."""
_INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STOP_SECONDS = (900.0, 60.0)
"""How long a command may take to end after the first interrupt, because EKS control planes cannot
be interrupted, and after the second, after which the engine does not wait for AWS."""
_POLL_SECONDS = 1.0
_PIPE_SECONDS = 10.0

RunStep = Callable[[Step, datetime | None], Done]
"""Runs a step until a time of the account's clock; None is no limit."""


class InterruptedRunError(Exception):
    """The user, the machine or the terminal has ended the command."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The steps of an acceptance, and how they are run.

    Attributes:
        record: Results so far; it is saved after each step.
        run: Runs one step.
        tell: Reports progress.
        pause: Waits a number of seconds.
    """

    record: Record
    run: RunStep
    tell: Callable[[str], None]
    pause: Callable[[float], None]

    def finish(self, steps: Sequence[Step], ends: datetime) -> None:
        """Run the steps that have no result yet.

        Args:
            steps: All steps, in order.
            ends: When the deletion begins at the latest, by the account's clock: that also goes on
                while the machine sleeps, and while no command runs.

        Raises:
            InterruptedRunError: the command was ended.
        """
        for step in steps:
            if self.record.is_deleted or self.record.has_done(step.name):
                continue
            if step.cleans:
                self._clean(step)
            elif not self.record.is_over:
                self._try(step, ends)

    def _try(self, step: Step, ends: datetime) -> None:
        self.tell(f"{step.name}: {step.proves}")
        if clock.now() >= ends:
            self._add(judged(step, None, "", 0.0))
            return
        self._add(self._result(step, ends))

    def _clean(self, step: Step) -> None:
        if not self.record.has_begun:
            return
        self.tell(f"{step.name}: {step.proves}")
        for left in reversed(range(DELETIONS if step.deletes else 1)):
            done = self._result(step, None)
            self._add(done)
            if done.result == "pass" or not left:
                return
            self.tell(f"{step.name} runs again in {PAUSE_SECONDS:g} s")
            self.pause(PAUSE_SECONDS)

    def _result(self, step: Step, ends: datetime | None) -> Done:
        try:
            return self.run(step, ends)
        except OSError as error:
            # A full disk, or no more processes: the deletion may still work.
            return judged(step, 1, f"error: {error}", 0.0)

    def _add(self, done: Done) -> None:
        try:
            self.record.add(done)
        except OSError as error:
            self.tell(f"the result of {done.name} could not be saved: {error}")
        self.tell(f"{done.name}: {done.result}, {done.seconds:g} s {done.reason}".rstrip())


def run_step(
    step: Step,
    options: Sequence[str],
    directory: Path,
    ends: datetime | None,
    *,
    program: Sequence[str] = (sys.executable, "-m", "tools.cli"),
    stop_seconds: Sequence[float] = _STOP_SECONDS,
) -> Done:
    """Run the command of a step, with a log in a directory if that has space for one.

    Args:
        step: The step.
        options: Options that the commands of all steps get.
        directory: Directory of the log.
        ends: When the command is stopped, by the account's clock; None if it has no limit.
        program: The command line that gets the arguments of the step.
        stop_seconds: How long it may take to end after each interrupt, before it is killed.

    Raises:
        InterruptedRunError: this process was interrupted; so was the command, and it has ended.
        OSError: the command could not be started.
    """
    command, *arguments = step.arguments
    began, begin = datetime.now(UTC), clock.now()
    with _interruptions() as interrupted:
        child = subprocess.Popen(
            # Its last arguments can be a program with arguments of its own.
            [*program, command, *options, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, ANSWER_SHAPES: str(directory / ANSWERS)},
            # Ctrl-C reaches it once, from this process, so that it ends its engine in order.
            start_new_session=True,
        )
        assert child.stdout is not None  # noqa: S101 - it is a pipe
        heard = _Heard(child.stdout, directory / log_of(step.name))
        exit_code = _exit_code(child, ends, interrupted)
        if exit_code is None:
            _stop(child, stop_seconds)
    said = heard.text()
    if interrupted.is_set():
        raise InterruptedRunError
    done = judged(step, exit_code, said, (datetime.now(UTC) - began).total_seconds())
    return done.timed(begin, shown_command((command, *options, *arguments), directory))


def _exit_code(
    child: subprocess.Popen[bytes], ends: datetime | None, interrupted: threading.Event
) -> int | None:
    """Return the exit code; None if the command was interrupted or its time is over."""
    while not interrupted.is_set() and (ends is None or clock.now() < ends):
        # Short waits: the clock of one long wait stops while the machine sleeps.
        with suppress(subprocess.TimeoutExpired):
            return child.wait(_POLL_SECONDS)
    return child.poll()


def _stop(child: subprocess.Popen[bytes], stop_seconds: Sequence[float]) -> None:
    for seconds in stop_seconds:
        child.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            child.wait(seconds)
            return
    child.kill()
    child.wait()


class _Heard:
    """The output of a command, which is also written to a log as long as there is space."""

    def __init__(self, source: IO[bytes], log: Path) -> None:
        self._lines: list[bytes] = []
        self._thread = threading.Thread(target=self._listen, args=(source, log), daemon=True)
        self._thread.start()

    def text(self) -> str:
        """Return what was said; a process that the command has left may still have the pipe."""
        self._thread.join(_PIPE_SECONDS)
        return b"".join(self._lines).decode("utf-8", errors="replace")

    def _listen(self, source: IO[bytes], log: Path) -> None:
        # The command must not stop because its log has no space: it is read to its end.
        with source:
            with suppress(OSError), log.open("wb", buffering=0) as file:
                for line in source:
                    self._lines.append(line)
                    file.write(line)
            self._lines.extend(source)


@contextmanager
def _interruptions() -> Iterator[threading.Event]:
    """Yield an event that is set when this process is asked to end."""
    event = threading.Event()

    def handle(_number: int, _frame: FrameType | None) -> None:
        event.set()

    before = {number: signal.signal(number, handle) for number in _INTERRUPTIONS}
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
