"""Progress of long tasks, in lines that are also readable in a log."""

import time
from collections.abc import Callable
from typing import Protocol

HEARTBEAT_SECONDS = 30.0
"""Time without output after which a line reports that the task is still running."""


class Progress(Protocol):
    """Receives progress: called with one line of text, without a line break."""

    def __call__(self, message: str, /) -> None:
        """Show ``message`` to the user."""
        ...


class Heartbeat:
    """Reports periodically that a task is still running, and at the end how long it took."""

    def __init__(
        self,
        report: Progress,
        work: str,
        usually: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._report = report
        self._work = work
        self._clock = clock
        self._started = clock()
        self._told = self._started
        report(f"{work} (usually {usually})")

    def beat(self, detail: str = "") -> None:
        """Report that the task is still running, unless something was reported recently."""
        now = self._clock()
        if now - self._told < HEARTBEAT_SECONDS:
            return
        self._told = now
        suffix = f", {detail}" if detail else ""
        self._report(f"{self._work}: {duration(now - self._started)} so far{suffix}")

    def done(self) -> None:
        """Report the end of the task and its duration."""
        self._report(f"{self._work}: done in {duration(self._clock() - self._started)}")


def duration(seconds: float) -> str:
    """Return a time as text: `52 s`, `9 min 12 s`, `1 h 4 min`, `6 d 20 h`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    if whole < 24 * 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // (24 * 3600)} d {whole % (24 * 3600) // 3600} h"
