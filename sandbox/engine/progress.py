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
        self._report(f"{self._work}: {_spent(now - self._started)} so far{suffix}")

    def done(self) -> None:
        """Report the end of the task and its duration."""
        self._report(f"{self._work}: done in {_spent(self._clock() - self._started)}")


def _spent(seconds: float) -> str:
    """Return a time as text: `52 s`, `9 min 12 s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
