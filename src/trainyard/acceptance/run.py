"""Runs the steps of an acceptance: in order, until its time is over, and the deletion in any case.

What was made costs money until it is deleted. So the deletion also runs after a failed step, after
the time limit, and without space for a log; what fails or is interrupted runs again in the next run
of the command.
"""

from __future__ import annotations

import dataclasses
import os
import re
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
from typing import Self

from trainyard.acceptance import ANSWER_SHAPES, ANSWERS
from trainyard.acceptance.provenance import shown_command
from trainyard.acceptance.steps import Done, Interruption, Record, Step, judged, log_of
from trainyard.components import clock
from trainyard.stack_files.files import unbuffered

DELETIONS = 3
"""How often a failing deletion is tried in one run: a lost connection, or an object that another
one still uses, is often over a minute later."""
PAUSE_SECONDS = 60.0
"""Between two of them."""
_INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STOP_SECONDS = (900.0, 60.0)
"""How long a command may take to end after the first interrupt, because EKS control planes cannot
be interrupted, and after the second, after which the engine does not wait for AWS."""
_ENDING_SECONDS = 60.0
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
    program: Sequence[str] = (sys.executable, "-m", "trainyard"),
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
    began, begin = datetime.now(UTC), clock.now()
    log = directory / log_of(step.name)
    with _interruptions() as interrupted, _Heard(log) as heard:
        commands = _Commands((*program,), (*options,), directory, heard)
        child = commands.start(step.arguments)
        ending = _Ending(step.interruption, commands)
        exit_code = _exit_code(child, ends, interrupted, ending)
        for each in filter(None, (child if exit_code is None else None, ending.awaited())):
            _stop(each, stop_seconds)
    if interrupted.is_set():
        raise InterruptedRunError
    seconds = (datetime.now(UTC) - began).total_seconds()
    done = judged(step, exit_code, heard.text, seconds, interrupted=ending.has_succeeded)
    if heard.lost is not None and done.result == "pass" and not step.cleans:
        # What cannot be shown proves nothing.
        reason = f"its log could not be written: {heard.lost.strerror}"
        done = dataclasses.replace(done, result="fail", reason=reason)
    command, *arguments = step.arguments
    return done.timed(begin, shown_command((command, *options, *arguments), directory))


@dataclass(frozen=True, slots=True)
class _Commands:
    """Starts commands of this program, whose output is heard."""

    program: tuple[str, ...]
    options: tuple[str, ...]
    directory: Path
    heard: _Heard

    def start(self, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        command, *rest = arguments
        return subprocess.Popen(
            # The last arguments can be a program with arguments of its own.
            [*self.program, command, *self.options, *rest],
            stdin=subprocess.DEVNULL,
            stdout=self.heard.source,
            stderr=subprocess.STDOUT,
            env={**os.environ, ANSWER_SHAPES: str(self.directory / ANSWERS)},
            # Ctrl-C reaches it once, from this process, so that it ends its engine in order.
            start_new_session=True,
        )


class _Ending:
    """The command that ends that of a step in the middle, once that has come so far."""

    def __init__(self, interruption: Interruption | None, commands: _Commands) -> None:
        self._interruption, self._commands = interruption, commands
        self._child: subprocess.Popen[bytes] | None = None

    def look(self) -> None:
        """Start the command if its time has come."""
        wanted = self._interruption
        if wanted is not None and self._child is None and self._commands.heard.has(wanted.after):
            self._child = self._commands.start(wanted.arguments)

    def awaited(self) -> subprocess.Popen[bytes] | None:
        """Return the command if it does not end within a minute."""
        if self._child is not None:
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(_ENDING_SECONDS)
        return self._child if self._child is not None and self._child.returncode is None else None

    @property
    def has_succeeded(self) -> bool:
        """Whether the command has run, and succeeded."""
        return self._child is not None and self._child.returncode == 0


def _exit_code(
    child: subprocess.Popen[bytes],
    ends: datetime | None,
    interrupted: threading.Event,
    ending: _Ending,
) -> int | None:
    """Return the exit code; None if the command was interrupted or its time is over."""
    while not interrupted.is_set() and (ends is None or clock.now() < ends):
        ending.look()
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
    """The output of commands, which is also written to a log as long as there is space."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._lines: list[bytes] = []
        self.lost: OSError | None = None
        """Why the log is not complete; None if it is."""
        self._reader, self.source = os.pipe()
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.source)
        # A process that a command has left may still have the pipe.
        self._thread.join(_PIPE_SECONDS)

    @property
    def text(self) -> str:
        """What was said so far."""
        return b"".join(self._lines).decode("utf-8", errors="replace")

    def has(self, pattern: str) -> bool:
        """Return whether a complete line begins with a pattern."""
        return any(re.match(pattern, line) for line in self.text.splitlines())

    def _listen(self) -> None:
        # The commands must not stop because the log has no space: they are read to their end.
        with os.fdopen(self._reader, "rb") as source:
            try:
                with unbuffered(self._log) as file:
                    for line in source:
                        self._lines.append(line)
                        file.write(line)
            except OSError as error:
                self.lost = error
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
