"""The engine's `up` with somebody who looks at its preview before it goes on.

The engine previews and updates in one process. Its event log says what the preview has found; the
program, which runs once for each, waits in its second run for the verdict. So there is no second
preview to pay for. The flag for the log is known only with `PULUMI_DEBUG_COMMANDS`.

The policy pack asks for a forecast when all steps are made and the preview has not ended yet
(`components.update_gate`). What it is refused for is shown, and no update begins. The log may lag
behind the engine by moments, so the verdict on the whole preview is what counts.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from components.update_gate import FORECAST, GRANTED, LAUNCHER, VERDICT, question
from tools.changes.steps import Step, is_end_of_run, steps_of_events
from tools.workspace.listening import EventLog, event_log

POLL_SECONDS = 0.02
SETTLED_READS = 3
"""Reads in a row without anything new after which the log is taken for complete so far."""

Judge = Callable[[Sequence[Step]], bool]
"""Whether the update may begin whose steps are these."""


class UpdateGate:
    """Reads a preview while it is made, and says whether the update after it may begin."""

    def __init__(self, log: EventLog, judge: Judge, *, fails_preview: bool) -> None:
        self._log, self._verdict = log, log.directory / "verdict"
        self._forecast, self._fails_preview = log.directory / "forecast", fails_preview
        self._judge, self._refused = judge, False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._preview: list[str] = []
        self.failure: BaseException | None = None
        """What kept the preview from being judged; the update has not begun then."""

    @property
    def arguments(self) -> list[str]:
        """What the engine is told besides."""
        return self._log.arguments

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables for the engine and the program that it starts."""
        early = {FORECAST: str(self._forecast)} if self._fails_preview else {}
        return {
            **self._log.environment,
            VERDICT: str(self._verdict),
            LAUNCHER: str(os.getpid()),
            **early,
        }

    def open(self) -> None:
        """Begin to watch; before the engine starts."""
        self._thread.start()

    def close(self) -> None:
        """Stop watching; after the engine has ended."""
        self._ended.set()
        self._thread.join()

    def log(self) -> str:
        """Return the event log of the last thing that the engine did, once it has ended."""
        return self._log.text() or "\n".join(self._preview)

    def _watch(self) -> None:
        try:
            self._read_preview()
        except BaseException as error:
            self.failure, self._refused = error, True
        self._say(self._verdict)

    def _read_preview(self) -> None:
        log = self._opened()
        if log is not None:
            with log:
                for line in self._lines(log):
                    self._preview.append(line)
        self._judge_what_was_read()

    def _judge_what_was_read(self) -> None:
        """Judge, unless it is refused already; a judge that fails refuses."""
        if not self._refused:
            self._refused = True
            self._refused = not self._judge(steps_of_events(self._preview))

    def _say(self, file: Path) -> None:
        said = file.with_suffix(".new")
        said.write_text("refused" if self._refused else GRANTED, encoding="utf-8")
        # It is read as soon as it is there.
        said.replace(file)

    def _opened(self) -> TextIO | None:
        """Return the preview's log as soon as it is there, out of the way of the update's.

        The update makes a log of the same name anew, which would empty this one.
        """
        while True:
            last = self._ended.is_set()
            try:
                log = self._log.path.open(encoding="utf-8", errors="replace")
            except FileNotFoundError:
                if last:
                    return None
                time.sleep(POLL_SECONDS)
                continue
            self._log.path.unlink()
            return log

    def _lines(self, log: TextIO) -> Iterator[str]:
        unfinished, quiet_reads = "", 0
        while True:
            last = self._ended.is_set()
            text = log.read()
            *lines, unfinished = (unfinished + text).split("\n")
            for line in lines:
                yield line
                if is_end_of_run(line):
                    return
            if not text and last:
                return
            if text:
                quiet_reads = 0
                continue
            quiet_reads += 1
            if quiet_reads >= SETTLED_READS and self._is_asked_early():
                self._answer_early()
            time.sleep(POLL_SECONDS)

    def _is_asked_early(self) -> bool:
        return question(self._forecast).exists() and not self._forecast.exists()

    def _answer_early(self) -> None:
        try:
            self._judge_what_was_read()
        finally:
            self._say(self._forecast)


@contextmanager
def update_gate(judge: Judge, *, fails_preview: bool = False) -> Iterator[UpdateGate]:
    """Give a gate whose files are gone afterwards; it is open while the block runs.

    `fails_preview` says whether the policy pack fails the preview of an update that is refused.
    """
    with event_log() as log:
        gate = UpdateGate(log, judge, fails_preview=fails_preview)
        gate.open()
        try:
            yield gate
        finally:
            gate.close()
