"""The section of the documentation for a job that has failed, from the end of its log.

The state of a job says that its program has ended with 1. What has happened stands in its log only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from trainyard.diagnosis.known_errors import KnownError, Source, known_error

LOG_LINES = 200
"""Lines at the end of a log among which the cause is. All processes print their errors there, and
torchrun a table of them."""
MOST_LOGS = 8
"""Logs of one job that are read: further nodes print the same."""


@dataclass(slots=True)
class LogEnd:
    """The last lines of one log, or of those of several nodes."""

    lines: deque[str] = field(default_factory=lambda: deque[str](maxlen=LOG_LINES))

    def add(self, text: str) -> None:
        """Add the next lines."""
        self.lines.extend(text.splitlines())

    def kept(self, show: Callable[[str], object]) -> Callable[[str], object]:
        """Return a function that shows lines, and adds them."""

        def shown(text: str) -> None:
            self.add(text)
            show(text)

        return shown

    @property
    def error(self) -> KnownError | None:
        """The error with a section that the lines have; None if they have none."""
        return known_error("\n".join(self.lines), "log")


def error_in(*logs: str) -> KnownError | None:
    """Return the error with a section that the ends of logs have; None if they have none."""
    return known_error("\n".join(line for log in logs for line in _end(log)), "log")


def _end(log: str) -> list[str]:
    return log.splitlines()[-LOG_LINES:]


def sections(reason: str, source: Source, error: KnownError | None) -> list[str]:
    """Return the lines of a message that name the sections of a failed job.

    Args:
        reason: Why it has failed, in the words of its scheduler.
        source: The scheduler.
        error: The error in its log; None if that has none.
    """
    found = [each.more for each in (known_error(reason, source), error) if each]
    return list(dict.fromkeys(found))
