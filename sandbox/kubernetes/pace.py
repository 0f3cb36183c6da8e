"""How often a loop polls the clusters."""

from __future__ import annotations

import time

_QUIET_SECONDS = 1.0
_SETTLED_AFTER_SECONDS = 3.0


class Pace:
    """The interval of a loop: short while something changes, and longer afterwards.

    A sandbox is mostly idle. Polling its clusters several times per second would take a tenth of a
    processor all the time.

    Args:
        busy_seconds: The short interval.
    """

    def __init__(self, busy_seconds: float) -> None:
        self._busy_seconds = busy_seconds
        self._seen: object = None
        self._changed_at = time.monotonic()

    def interval(self, seen: object) -> float:
        """Return the seconds to wait.

        Args:
            seen: What the last step found; another value than before is a change.
        """
        now = time.monotonic()
        if seen != self._seen:
            self._seen, self._changed_at = seen, now
        settled = now - self._changed_at > _SETTLED_AFTER_SECONDS
        return _QUIET_SECONDS if settled else self._busy_seconds
