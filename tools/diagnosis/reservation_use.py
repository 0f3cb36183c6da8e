"""Who uses a capacity reservation, and whether a node can launch into it now.

Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html and
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Instance.html, `capacityReservationId`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from components.tagging import CLUSTER_TAG, tag_map

_OWNER_TAGS = (
    CLUSTER_TAG,
    "eks:cluster-name",
    "parallelcluster:cluster-name",
    "aws:autoscaling:groupName",
    "Name",
)
"""Tags that identify the owner of an instance, most specific first."""
_ALIVE = [{"Name": "instance-state-name", "Values": ["pending", "running", "stopping"]}]


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
    holders: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Ids of this account's instances in it, by owner."""

    def described(self) -> str:
        """Return its state in one sentence, with the owners of its instances if it is full."""
        what = f"{self.reservation_id} ({self.total} x {self.instance_type})"
        if self.state == "scheduled":
            return (
                f"{what} starts at {_moment(self.starts_at)}; EC2 launches no instance into it "
                "before"
            )
        if self.state != "active":
            return f"{what} is {self.state}: EC2 no longer launches instances into it"
        end = f"; it ends at {_moment(self.ends_at)}" if self.ends_at else ""
        if self.available > 0:
            return f"{what} has {self.available} of {self.total} instances available{end}"
        return f"{what} is full: {self._held()}{end}"

    def _held(self) -> str:
        parts = [
            f"{len(ids)} used by {owner} ({', '.join(ids)})" for owner, ids in self.holders.items()
        ]
        others = self.total - self.available - sum(map(len, self.holders.values()))
        if others > 0:
            parts.append(f"{others} by instances in other accounts")
        return ", ".join(parts)


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
    held = _holders(ec2, {each["InstanceType"] for each in found})
    return tuple(
        ReservationUse(
            reservation_id=each["CapacityReservationId"],
            state=each["State"],
            instance_type=each["InstanceType"],
            total=each["TotalInstanceCount"],
            available=each["AvailableInstanceCount"],
            starts_at=each.get("StartDate"),
            ends_at=each.get("EndDate"),
            holders=held.get(each["CapacityReservationId"], {}),
        )
        for each in found
    )


def _holders(ec2: Any, instance_types: Iterable[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    filters = [{"Name": "instance-type", "Values": sorted(instance_types)}, *_ALIVE]
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for page in ec2.get_paginator("describe_instances").paginate(Filters=filters):
        for instance in (one for made in page["Reservations"] for one in made["Instances"]):
            if "CapacityReservationId" in instance:
                of_reservation = found.setdefault(instance["CapacityReservationId"], {})
                owner = _owner(instance.get("Tags") or [])
                of_reservation[owner] = (*of_reservation.get(owner, ()), instance["InstanceId"])
    return found


def _owner(tags: list[Mapping[str, str]]) -> str:
    values = tag_map(tags)
    return next((values[key] for key in _OWNER_TAGS if values.get(key)), "instances without a name")


def _moment(moment: datetime | None) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if moment else "an unknown time"
