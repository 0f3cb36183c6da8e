"""How long AWS may take to show and to complete new objects."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Limits in seconds."""

    settle: float
    """Time after the kill until a missing object counts as not created, because AWS is eventually
    consistent. AWS recommends up to five minutes, and the provider takes them after a create:
    https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html,
    https://github.com/hashicorp/terraform-provider-aws, `internal/service/ec2/wait.go`
    (`ec2PropagationTimeout`)"""
    poll: float
    """Interval between two reads of an object that is being created."""
    limit: float
    """Limit for the longest creation."""

    def unsettled_seconds(self, written: datetime | None) -> float:
        """Return for how long AWS may still not show an object, by the time of the last write."""
        if written is None:
            return 0.0
        return max(0.0, self.settle - (datetime.now(UTC) - written).total_seconds())

    def is_settled(self, written: datetime | None) -> bool:
        """Return whether a missing object counts as not created, by the age of the state."""
        return self.unsettled_seconds(written) == 0


IN_AN_ACCOUNT = Timeouts(settle=300, poll=15, limit=3600)
"""The limit exceeds the provider's longest default for the types in use, 40 minutes (Lustre)."""
IN_THE_SANDBOX = Timeouts(settle=1, poll=0.2, limit=300)
"""The emulated account shows objects immediately, unless a fault schedule delays them."""
