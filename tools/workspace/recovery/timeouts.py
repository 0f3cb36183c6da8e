"""How long AWS may take to show and to complete new objects."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Limits in seconds."""

    settle: float
    """Time after the kill until a missing object counts as not created, because AWS is eventually
    consistent.
    https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html"""
    poll: float
    """Interval between two reads of an object that is being created."""
    limit: float
    """Limit for the longest creation."""

    def is_settled(self, written: datetime | None) -> bool:
        """Return whether a missing object counts as not created, by the age of the state."""
        return written is None or (datetime.now(UTC) - written).total_seconds() > self.settle


IN_AN_ACCOUNT = Timeouts(settle=60, poll=15, limit=3600)
"""The limit exceeds the provider's longest default for the types in use, 40 minutes (Lustre)."""
IN_THE_SANDBOX = Timeouts(settle=1, poll=0.2, limit=300)
"""The emulated account shows objects immediately, unless a fault schedule delays them."""


def timeouts_of(*, sandbox: bool) -> Timeouts:
    """Return the limits for the sandbox or for an account."""
    return IN_THE_SANDBOX if sandbox else IN_AN_ACCOUNT
