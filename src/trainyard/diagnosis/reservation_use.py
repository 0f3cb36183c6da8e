"""Who uses a capacity reservation, and whether a node can launch into it now.

Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html and
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Instance.html, `capacityReservationId`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from trainyard.components.account import answers
from trainyard.components.account.facts import why_not_active
from trainyard.components.account.reservations import Holders, held_text, holder_filters, holders_of


@dataclass(frozen=True, slots=True)
class ReservationUse:
    """A capacity reservation and the instances in it."""

    reservation_id: str
    state: str
    """`active`, `scheduled`, `expired`, `cancelled` and others."""
    instance_type: str
    total: int
    """Number of reserved instances."""
    available: int
    """Number of instances that can be launched into it now."""
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    holders: Holders = field(default_factory=dict[str, tuple[str, ...]])
    """Ids of this account's instances in it, by owner."""
    is_open: bool = False
    """Whether any instance with its attributes runs in it, not only those that target it."""

    def described(self) -> str:
        """Return its state in one sentence, with the owners of its instances if it is full."""
        what = f"{self.reservation_id} ({self.total} x {self.instance_type})"
        reason = why_not_active(self.state, self.starts_at)
        if reason is not None:
            return f"EC2 launches no instances into {what}: {reason}"
        end = f"; it ends at {_moment(self.ends_at)}" if self.ends_at else ""
        if self.available > 0:
            return f"{what} has {self.available} of {self.total} instances available{end}"
        return f"{what} is full: {held_text(self.holders, used=self.total - self.available)}{end}"


def read_reservations(ec2: Any, reservation_ids: Sequence[str]) -> tuple[ReservationUse, ...]:
    """Return the reservations with these ids.

    Args:
        ec2: A boto3 EC2 client.
        reservation_ids: May be empty; then no request is sent.

    Raises:
        botocore.exceptions.ClientError: EC2 rejected the request, or an id does not exist.
    """
    if not reservation_ids:
        return ()
    answer = ec2.describe_capacity_reservations(CapacityReservationIds=[*reservation_ids])
    found: list[dict[str, Any]] = answer["CapacityReservations"]
    pages = ec2.get_paginator("describe_instances").paginate(
        Filters=holder_filters(reservation_ids)
    )
    held = holders_of(pages)
    return tuple(
        ReservationUse(
            reservation_id=each["CapacityReservationId"],
            state=each["State"],
            instance_type=each["InstanceType"],
            total=answers.instance_count(each),
            available=each["AvailableInstanceCount"],
            starts_at=each.get("StartDate"),
            ends_at=each.get("EndDate"),
            holders=held.get(each["CapacityReservationId"], {}),
            is_open=each.get("InstanceMatchCriteria") == "open",
        )
        for each in found
    )


def _moment(moment: datetime | None) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if moment else "an unknown time"
