"""The time by which capacity begins and ends.

It is that of the account: of this machine, which AWS keeps in step with, or of an emulated account
whose clock can be moved.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

VARIABLE = "TRAINYARD_CLOCK_AHEAD_SECONDS"
"""Seconds by which the account's clock is ahead of this machine's."""


def now() -> datetime:
    """Return the time in the account as an aware datetime in UTC."""
    return datetime.now(UTC) + timedelta(seconds=float(os.environ.get(VARIABLE) or 0))
