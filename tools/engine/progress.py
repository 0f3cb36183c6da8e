"""Progress of long work, told in lines that also read well in a log."""

import time
from typing import Protocol

HEARTBEAT_SECONDS = 30.0
"""How long the work may be silent before a line says that it still goes on."""


class Progress(Protocol):
    """Where progress goes: called with one line of text, without a line break."""

    def __call__(self, message: str, /) -> None:
        """Show ``message`` to the user."""
        ...


class Heartbeat:
    """Says now and then that a piece of work still goes on, and in the end how long it took."""

    def __init__(self, report: Progress, work: str, usually: str) -> None:
        self._report = report
        self._work = work
        self._started = time.monotonic()
        self._told = self._started
        report(f"{work} (usually {usually})")

    def beat(self, detail: str = "") -> None:
        """Report that the work goes on, unless something was reported a moment ago."""
        now = time.monotonic()
        if now - self._told < HEARTBEAT_SECONDS:
            return
        self._told = now
        suffix = f", {detail}" if detail else ""
        self._report(f"{self._work}: {duration(now - self._started)} so far{suffix}")

    def done(self) -> None:
        """Report the end of the work and the time it took."""
        self._report(f"{self._work}: done in {duration(time.monotonic() - self._started)}")


def duration(seconds: float) -> str:
    """Return a length of time as people say it: ``8 s``, ``2 min 5 s``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s"
