"""What the state of a capacity reservation means for the nodes that launch into it.

EC2 launches instances only into a reservation that is `active`.

Source: `state` in
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html, which has no
words for `unavailable`: it is neither later nor over.
"""

from __future__ import annotations

from datetime import UTC, datetime

LATER = {
    "pending": "EC2 is still providing its instances",
    "payment-pending": "AWS has not processed its payment, which takes up to 12 hours",
    "assessing": "EC2 is assessing the request, and can still turn it down",
    "scheduled": "",
    "delayed": "EC2 could not deliver its instances at its start",
}
"""States before a reservation is active, with what the word does not tell."""
OVER = {
    "expired": "",
    "cancelled": "",
    "cancelling": "its instances are gone already, and the charge for its commitment goes on",
    "failed": "EC2 rejected the request",
    "payment-failed": "AWS has given its instances back",
    "unsupported": "EC2 does not have the instances, and will not deliver them",
}
"""States of a reservation that has no instances and gets none, with what the word does not tell."""
USABLE_STATES = {
    "odcr": frozenset({"active"}),
    "capacity-block": frozenset({"active", "scheduled"}),
}
"""States in which a stack can use a reservation, by its kind: nodes have a schedule for a block."""


def why_not_active(state: str, starts_at: datetime | None) -> str | None:
    """Return why EC2 launches no instance into a reservation, as a phrase; None if it is active.

    Args:
        state: Its state.
        starts_at: Its start, or the start that was asked for.
    """
    if state == "active":
        return None
    reason = f"it is {state_text(state)}"
    # The start of a delayed reservation has passed.
    if starts_at is not None and state in ("assessing", "scheduled", "payment-pending"):
        reason += f"; it starts at {starts_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return reason


def state_text(state: str) -> str:
    """Return a state with its meaning, if the word does not tell."""
    meaning = (LATER | OVER).get(state)
    return f"{state}: {meaning}" if meaning else state
