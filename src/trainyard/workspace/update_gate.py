"""Run the engine's `up` and decide between its preview and its update whether to proceed.

The engine previews and updates in one process. Its event log holds the result of the preview. The
program runs once for the preview and once for the update, and in its second run it waits for the
verdict. No additional preview is necessary. The flag for the event log exists only with
`PULUMI_DEBUG_COMMANDS`.

The policy pack asks for a provisional verdict when all steps are known but the preview has not
ended (`trainyard.components.update_gate`). If the verdict is a refusal, the engine shows it and no
update starts. The log may lag slightly behind the engine, so the verdict on the complete preview is
decisive.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TextIO

from trainyard.changes.steps import PlannedStep, is_end_of_run, steps_of_events
from trainyard.components.update_gate import FORECAST, GRANTED, LAUNCHER, VERDICT, question
from trainyard.engine.listening import EventLog, event_log
from trainyard.stack_files.files import followed, write_whole

POLL_SECONDS = 0.02
SETTLED_READS = 3
"""Consecutive reads without new events after which the log is considered complete."""

Judge = Callable[[Sequence[PlannedStep]], bool]
"""Whether an update with these steps may start."""


class Watcher(Protocol):
    """Follows the event log of an operation while the engine runs."""

    def see(self, line: str) -> None:
        """Follow a line."""
        ...


class UpdateGate:
    """Reads a preview while it runs and decides whether the update may start."""

    def __init__(
        self, log: EventLog, judge: Judge, *, fails_preview: bool, watcher: Watcher | None = None
    ) -> None:
        self._watcher = watcher
        self._log, self._verdict = log, log.directory / "verdict"
        self._forecast, self._fails_preview = log.directory / "forecast", fails_preview
        self._judge, self._refused = judge, False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._preview: list[str] = []
        self.failure: BaseException | None = None
        """The error that prevented the verdict, in which case the update has not started."""

    @property
    def arguments(self) -> list[str]:
        """Additional arguments for the engine."""
        return self._log.arguments

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables for the engine and for the program that it starts."""
        early = {FORECAST: str(self._forecast)} if self._fails_preview else {}
        return {
            **self._log.environment,
            VERDICT: str(self._verdict),
            LAUNCHER: str(os.getpid()),
            **early,
        }

    def open(self) -> None:
        """Start to watch; call this before the engine starts."""
        self._thread.start()

    def close(self) -> None:
        """Stop watching; call this after the engine has ended."""
        self._ended.set()
        self._thread.join()

    def log(self) -> str:
        """Return the event log of the engine's last operation, once the engine has ended."""
        return self._log.text() or "\n".join(self._preview)

    def _watch(self) -> None:
        try:
            self._read_preview()
        except BaseException as error:
            self.failure, self._refused = error, True
        self._say(self._verdict)
        self._watch_update()

    def _watch_update(self) -> None:
        """Show the events of the operation that follows the preview."""
        log = self._opened(keeps=True) if self._watcher else None
        if log is not None:
            with log:
                for line in self._lines(log):
                    self._tell(line)

    def _tell(self, line: str) -> None:
        if self._watcher is not None:
            self._watcher.see(line)

    def _read_preview(self) -> None:
        log = self._opened()
        if log is not None:
            with log:
                for line in self._lines(log):
                    self._preview.append(line)
                    self._tell(line)
        self._judge_what_was_read()

    def _judge_what_was_read(self) -> None:
        """Judge the steps unless already refused; an error in the judge refuses the update."""
        if not self._refused:
            self._refused = True
            self._refused = not self._judge(steps_of_events(self._preview))

    def _say(self, file: Path) -> None:
        # The program reads the file as soon as it exists.
        write_whole(file, "refused" if self._refused else GRANTED)

    def _opened(self, *, keeps: bool = False) -> TextIO | None:
        """Open a log as soon as it exists, and unlink it unless `keeps` is set.

        The update creates a log with the same name, which would truncate that of the preview.
        """
        while True:
            last = self._ended.is_set()
            try:
                log = followed(self._log.path)
            except FileNotFoundError:
                if last:
                    return None
                time.sleep(POLL_SECONDS)
                continue
            if not keeps:
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
def update_gate(
    judge: Judge, *, fails_preview: bool = False, watcher: Watcher | None = None
) -> Iterator[UpdateGate]:
    """Yield an open gate, and delete its files when the block ends.

    `fails_preview` says whether the policy pack fails the preview of a refused update. `watcher`
    follows the events of the preview and of the update.
    """
    with event_log() as log:
        gate = UpdateGate(log, judge, fails_preview=fails_preview, watcher=watcher)
        gate.open()
        try:
            yield gate
        finally:
            gate.close()
