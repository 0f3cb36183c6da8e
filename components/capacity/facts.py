"""Capacity reservations in an account, as plain records, and their states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationFacts:
    """An invitation of AWS RAM to a resource share of another account."""

    share_arn: str
    share_name: str
    sender_id: str
    status: str
    """`PENDING`, `ACCEPTED`, `REJECTED` or `EXPIRED`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UltraserverFacts:
    """The health of an UltraServer, as EC2 reports it of its Capacity Block."""

    interconnect: str
    """`InterconnectStatus`: `ok`, `impaired` or `insufficient-data`."""
    instances: int
    """`TotalCapacity`."""
    unavailable: int
    """`TotalUnavailableCapacity`: instances that fail a system status check."""


# What the state of a capacity reservation means for the nodes that launch into it.
#
# EC2 launches instances only into a reservation that is `active`.
#
# Source: `state` in
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html, which has no
# words for `unavailable`: it is neither later nor over.


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationFacts:
    """An existing capacity reservation: an ODCR or a Capacity Block."""

    reservation_id: str
    kind: Literal["odcr", "capacity-block"]
    """`ReservationType`: `default` is an ODCR."""
    instance_type: str
    availability_zone: str
    zone_id: str
    state: str
    """`CapacityReservationState`: `active`, `scheduled`, `expired` …"""
    instance_count: int
    """Instances that it has, or will have, as `lookup.instance_count` determines it."""
    owner_id: str
    platform: str
    placement_group: str | None
    """Name of the placement group of the reservation."""
    starts_at: datetime | None
    ends_at: datetime | None
    arn: str = ""
    placement_group_owner_id: str | None = None
    """Account that owns the group; None without a group."""
    available_count: int | None = None
    """`AvailableInstanceCount`: how many more instances can launch now; None if unknown."""
    tenancy: str = "default"
    """`default` or `dedicated`."""
    interruptible: bool = False
    """Whether its owner can take the instances back (`Interruptible`)."""
    source_id: str | None = None
    """Of an interruptible reservation: the one that its instances come from. Only its owner sees
    it."""
    lent_to: str | None = None
    """The interruptible reservation that has taken instances from this one."""
    committed_until: datetime | None = None
    """End of the commitment of a future-dated ODCR."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def known_count(self) -> int | None:
        """`instance_count`; None of a Capacity Block that shows no number before its start."""
        is_unknown = self.kind == "capacity-block" and self.state in LATER
        return self.instance_count or (None if is_unknown else 0)


# Whose instances are in a capacity reservation.
#
# Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstances.html, filter
# `capacity-reservation-id`, and API_Instance.html, `capacityReservationId`.


Holders = Mapping[str, tuple[str, ...]]
"""Ids of this account's instances in a reservation, by owner."""
