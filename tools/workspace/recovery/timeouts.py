"""How long AWS is given to show what it made, and to make it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long the account is given, in seconds."""

    settle: float
    """After the kill, until what is not there may be called not made: AWS shows new objects late.
    https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html"""
    poll: float
    """Between two looks at an object that is being made."""
    limit: float
    """For the longest creation."""

    def is_settled(self, written: datetime | None) -> bool:
        """Return whether what is not there may be called so, by when the state was written."""
        return written is None or (datetime.now(UTC) - written).total_seconds() > self.settle


IN_AN_ACCOUNT = Timeouts(settle=60, poll=15, limit=3600)
"""The limit is above the longest default of the provider for types of ours, 40 minutes (Lustre)."""
IN_THE_SANDBOX = Timeouts(settle=1, poll=0.2, limit=300)
"""Its account shows at once what is there, unless a schedule of faults says otherwise."""
