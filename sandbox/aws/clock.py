"""The sandbox's clock: real time, which tests and demonstrations may move forward."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class Clock:
    """Tells the sandbox's time."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        """Return the time in UTC, aware."""
        return datetime.now(UTC) + self._ahead

    def advance(self, duration: timedelta) -> None:
        """Move the clock forward; Capacity Blocks start and end by it."""
        self._ahead += duration

    def reset(self) -> None:
        """Return to real time."""
        self._ahead = timedelta()


CLOCK = Clock()
"""The clock of this process; there is one server in a process."""
