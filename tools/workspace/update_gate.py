"""The engine's `up` with somebody who looks at its preview before it goes on.

The engine previews and updates in one process. Its event log says what the preview has found; the
program, which runs once for each, waits in its second run for the verdict. So there is no second
preview to pay for. The flag for the log is known only with `PULUMI_DEBUG_COMMANDS`.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from components.permission import GRANTED, LAUNCHER, VERDICT
from tools.changes.steps import Step, is_end_of_run, steps_of_events
from tools.workspace.listening import LOG_FLAG_VARIABLE

POLL_SECONDS = 0.02

Judge = Callable[[Sequence[Step]], bool]
"""Whether the update may begin whose steps are these."""


class UpdateGate:
    """Reads a preview while it is made, and says whether the update after it may begin."""

    def __init__(self, directory: Path, judge: Judge) -> None:
        self._log, self._verdict = directory / "events.json", directory / "verdict"
        self._judge = judge
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._preview: list[str] = []
        self.failure: BaseException | None = None
        """What kept the preview from being judged; the update has not begun then."""

    @property
    def arguments(self) -> list[str]:
        """What the engine is told besides."""
        return ["--event-log", str(self._log)]

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables for the engine and the program that it starts."""
        return {
            LOG_FLAG_VARIABLE: "true",
            VERDICT: str(self._verdict),
            LAUNCHER: str(os.getpid()),
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
        if self._log.exists():
            return self._log.read_text(encoding="utf-8", errors="replace")
        return "\n".join(self._preview)

    def _watch(self) -> None:
        try:
            granted = self._judge(self._steps())
        except BaseException as error:
            self.failure, granted = error, False
        said = self._verdict.with_suffix(".new")
        said.write_text(GRANTED if granted else "refused", encoding="utf-8")
        # The program reads the file as soon as it is there.
        said.replace(self._verdict)

    def _steps(self) -> tuple[Step, ...]:
        log = self._opened()
        if log is None:
            return ()
        with log:
            return steps_of_events(self._lines(log))

    def _opened(self) -> TextIO | None:
        """Return the preview's log as soon as it is there, out of the way of the update's.

        The update makes a log of the same name anew, which would empty this one.
        """
        while True:
            last = self._ended.is_set()
            try:
                log = self._log.open(encoding="utf-8", errors="replace")
            except FileNotFoundError:
                if last:
                    return None
                time.sleep(POLL_SECONDS)
                continue
            self._log.unlink()
            return log

    def _lines(self, log: TextIO) -> Iterator[str]:
        unfinished = ""
        while True:
            last = self._ended.is_set()
            text = log.read()
            *lines, unfinished = (unfinished + text).split("\n")
            for line in lines:
                self._preview.append(line)
                yield line
                if is_end_of_run(line):
                    return
            if not text and last:
                return
            if not text:
                time.sleep(POLL_SECONDS)


@contextmanager
def update_gate(judge: Judge) -> Iterator[UpdateGate]:
    """Give a gate whose files are gone afterwards; it is open while the block runs."""
    with tempfile.TemporaryDirectory(prefix="trainyard-up-") as directory:
        gate = UpdateGate(Path(directory), judge)
        gate.open()
        try:
            yield gate
        finally:
            gate.close()
