"""The sandbox's clock: real time, which tests and demonstrations can advance."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class Clock:
    """Returns the sandbox's time."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        """Return the time as an aware datetime in UTC."""
        return datetime.now(UTC) + self._ahead

    def advance(self, duration: timedelta) -> None:
        """Advance the clock; Capacity Blocks start and end by it."""
        self._ahead += duration

    @property
    def ahead(self) -> timedelta:
        """How far it is ahead of real time."""
        return self._ahead

    def reset(self) -> None:
        """Return to real time."""
        self._ahead = timedelta()


CLOCK = Clock()
"""The clock of this process, which has one server."""
