"""Capacity reservations: their state and available capacity, and groups of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from moto.resourcegroups.models import resourcegroups_backends

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.capacity_block_terms import tags_of_aws, terminated_before_end
from trainyard.sandbox.aws.errors import refuse
from trainyard.sandbox.aws.state import state_of

# Capacity reservations: their state and available capacity.
#
# EC2 has one object type for On-Demand Capacity Reservations and Capacity Blocks, distinguished by
# `ReservationType`. The state depends on the clock; available capacity depends on the running
# instances.
#
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html


ReservationType = Literal["default", "capacity-block"]
State = Literal["active", "scheduled", "payment-pending", "expired", "cancelled"]

_GONE = ("terminated", "shutting-down")


@dataclass(kw_only=True)
class CapacityReservation:
    """A reservation that this account owns or shares."""

    reservation_id: str
    owner_id: str
    region: str
    availability_zone: str
    availability_zone_id: str
    instance_type: str
    instance_count: int
    reservation_type: ReservationType = "default"
    instance_platform: str = "Linux/UNIX"
    tenancy: str = "default"
    instance_match_criteria: Literal["open", "targeted"] = "open"
    created_at: datetime
    starts_at: datetime
    ends_at: datetime | None = None
    placement_group_arn: str | None = None
    ebs_optimized: bool = False
    cancelled: bool = False
    commitment: timedelta | None = None
    """Of a future-dated reservation: how long it must be kept after its start."""
    ultraserver_type: str = ""
    """Of a Capacity Block that is an UltraServer."""
    interconnect: Literal["ok", "impaired", "insufficient-data"] = "ok"
    """`InterconnectStatus` of an UltraServer."""
    unavailable: int = 0
    """Instances of an UltraServer that fail a system status check."""
    bought: bool = False
    """Whether it is a Capacity Block that was bought in the sandbox."""
    awaits_payment: bool = False
    """Whether the upfront fee of a Capacity Block is not processed yet."""

    @property
    def arn(self) -> str:
        """Its ARN, in its owner's account."""
        return (
            f"arn:aws:ec2:{self.region}:{self.owner_id}:capacity-reservation/{self.reservation_id}"
        )

    @property
    def commitment_ends_at(self) -> datetime | None:
        """The end of its commitment; None without one."""
        return None if self.commitment is None else self.starts_at + self.commitment

    @property
    def state(self) -> State:
        """The state according to the clock and a cancellation."""
        if self.cancelled:
            return "cancelled"
        if self.awaits_payment:
            return "payment-pending"
        now = CLOCK.now()
        if now < self.starts_at:
            return "scheduled"
        if self.ends_at is not None and now >= self.ends_at:
            return "expired"
        return "active"

    @property
    def capacity_block_id(self) -> str:
        """`CapacityBlockId` of an UltraServer, which is one block with one reservation."""
        return f"cb-{self.reservation_id.removeprefix('cr-')}"

    @property
    def terminates_at(self) -> datetime | None:
        """When EC2 begins to terminate its instances; None if it is no Capacity Block."""
        if self.reservation_type != "capacity-block" or self.ends_at is None:
            return None
        return self.ends_at - terminated_before_end(ultraserver=bool(self.ultraserver_type))

    @property
    def terminates_instances(self) -> bool:
        """Whether EC2 is terminating its instances, as at the end of a Capacity Block."""
        return self.terminates_at is not None and CLOCK.now() >= self.terminates_at


@dataclass
class CapacityReservations:
    """The reservations that are visible to an account in a region."""

    by_id: dict[str, CapacityReservation] = field(default_factory=dict)

    def add(self, reservation: CapacityReservation) -> None:
        """Add a reservation."""
        self.by_id[reservation.reservation_id] = reservation

    def with_id(self, reservation_id: str) -> CapacityReservation:
        """Return a reservation.

        Raises:
            EC2ClientError: The id does not exist.
        """
        if reservation_id not in self.by_id:
            refuse(
                "InvalidCapacityReservationId.NotFound",
                f"The capacity reservation '{reservation_id}' does not exist.",
            )
        return self.by_id[reservation_id]


def reservations_of(ec2_backend: Any) -> CapacityReservations:
    """Return the reservations of an EC2 backend."""
    return state_of(ec2_backend, CapacityReservations)


def used_count(ec2_backend: Any, reservation: CapacityReservation) -> int:
    """Return the number of the reservation's instances that are in use."""
    return sum(
        getattr(instance, "capacity_reservation_id", None) == reservation.reservation_id
        for instance in ec2_backend.all_instances()
        if instance.state not in _GONE
    )


def available_count(ec2_backend: Any, reservation: CapacityReservation) -> int:
    """Return the number of instances that can be launched into the reservation now."""
    if reservation.state != "active":
        return 0
    return max(0, reservation.instance_count - used_count(ec2_backend, reservation))


def _total_count(reservation: CapacityReservation) -> int:
    """Return `TotalInstanceCount`, which is 0 of a Capacity Block that has not started.

    aws/aws-parallelcluster, cli/src/pcluster/aws/aws_resources.py at 451cc5320d5d
    """
    is_later = reservation.state in ("scheduled", "payment-pending")
    if reservation.reservation_type == "capacity-block" and is_later:
        return 0
    return reservation.instance_count


def _own_tags(reservation: CapacityReservation) -> dict[str, str]:
    """Return the tags that EC2 sets on a Capacity Block, as in the same answer."""
    if reservation.reservation_type != "capacity-block":
        return {}
    return tags_of_aws(reservation.instance_count)


def _allocations(ec2_backend: Any, reservation: CapacityReservation) -> list[dict[str, Any]]:
    """Return what is used of a reservation, as EC2 answers it."""
    used = used_count(ec2_backend, reservation)
    return [{"AllocationType": "used", "Count": used}] if used else []


def described(ec2_backend: Any, reservation: CapacityReservation) -> dict[str, Any]:
    """Return the reservation as in DescribeCapacityReservations."""
    given = ec2_backend.tags.get(reservation.reservation_id, {})
    tags = _own_tags(reservation) | given
    answer: dict[str, Any] = {
        "CapacityReservationId": reservation.reservation_id,
        "OwnerId": reservation.owner_id,
        "CapacityReservationArn": reservation.arn,
        "AvailabilityZone": reservation.availability_zone,
        "AvailabilityZoneId": reservation.availability_zone_id,
        "InstanceType": reservation.instance_type,
        "InstancePlatform": reservation.instance_platform,
        "Tenancy": reservation.tenancy,
        "TotalInstanceCount": _total_count(reservation),
        "AvailableInstanceCount": available_count(ec2_backend, reservation),
        "EbsOptimized": reservation.ebs_optimized,
        "EphemeralStorage": False,
        "State": reservation.state,
        "StartDate": reservation.starts_at,
        "CreateDate": reservation.created_at,
        "EndDateType": "limited" if reservation.ends_at else "unlimited",
        "InstanceMatchCriteria": reservation.instance_match_criteria,
        "ReservationType": reservation.reservation_type,
        "CapacityAllocations": _allocations(ec2_backend, reservation),
        "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
    }
    if reservation.ultraserver_type:
        answer["CapacityBlockId"] = reservation.capacity_block_id
    if reservation.ends_at:
        answer["EndDate"] = reservation.ends_at
    if reservation.commitment is not None:
        answer["DeliveryPreference"] = "incremental"
        answer["CommitmentInfo"] = {
            "CommittedInstanceCount": reservation.instance_count,
            "CommitmentEndDate": reservation.commitment_ends_at,
            "CommitmentDuration": int(reservation.commitment.total_seconds()),
        }
    if reservation.placement_group_arn:
        answer["PlacementGroupArn"] = reservation.placement_group_arn
    return answer


def block_status(ec2_backend: Any, reservation: CapacityReservation) -> dict[str, Any]:
    """Return an UltraServer as in DescribeCapacityBlockStatus.

    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityBlockStatus.html
    """
    capacity = {
        "TotalCapacity": reservation.instance_count,
        "TotalAvailableCapacity": available_count(ec2_backend, reservation),
        "TotalUnavailableCapacity": reservation.unavailable,
    }
    return {
        "CapacityBlockId": reservation.capacity_block_id,
        "InterconnectStatus": reservation.interconnect,
        **capacity,
        "CapacityReservationStatuses": [
            {"CapacityReservationId": reservation.reservation_id, **capacity}
        ],
    }


# On-Demand Capacity Reservations that start at a date, with a commitment.
#
# EC2 approves every request at once here: it goes without the state `assessing`. The codes of the
# errors are not documented.
#
# Sources:
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CancelCapacityReservation.html


_AHEAD = (timedelta(days=5), timedelta(days=120))
_FAMILIES = re.compile(r"[cgimrt]\d")
_LEAST_VCPUS = 32


def check_future_dated(
    parameters: Mapping[str, Any], starts_at: datetime | None, vcpus: int
) -> None:
    """Refuse what EC2 refuses of a reservation with a start.

    Args:
        parameters: Those of the request.
        starts_at: The start that it asks for; None for an immediate one.
        vcpus: Of all instances.

    Raises:
        EC2ClientError: EC2 refuses the request.
    """
    own = {"CommitmentDuration", "DeliveryPreference"}
    if starts_at is None:
        if own & {*parameters}:
            refuse("InvalidParameterCombination", f"{', '.join(sorted(own))} need a StartDate.")
        return
    for problem in _problems(parameters, starts_at - CLOCK.now(), vcpus):
        refuse("InvalidParameterValue", problem)


def _problems(parameters: Mapping[str, Any], ahead: timedelta, vcpus: int) -> Iterator[str]:
    if parameters.get("DeliveryPreference") != "incremental":
        yield "DeliveryPreference must be incremental for a future-dated reservation."
    if not parameters.get("CommitmentDuration"):
        yield "CommitmentDuration is required for a future-dated reservation."
    if not _AHEAD[0] <= ahead <= _AHEAD[1]:
        yield "StartDate must be between 5 and 120 days in the future."
    if not _FAMILIES.match(parameters["InstanceType"]):
        yield "Future-dated reservations are for the families C, G, I, M, R and T."
    if vcpus < _LEAST_VCPUS:
        yield f"A future-dated reservation has at least {_LEAST_VCPUS} vCPUs."
    if "PlacementGroupArn" in parameters:
        yield "A future-dated reservation has no placement group."


def check_commitment(reservation: CapacityReservation) -> None:
    """Refuse to cancel a reservation that EC2 cancels only with a quote.

    Raises:
        EC2ClientError: it is scheduled, or in the time of its commitment.
    """
    ends_at = reservation.commitment_ends_at
    if ends_at is None or CLOCK.now() >= ends_at:
        return
    if reservation.state in ("scheduled", "active"):
        refuse(
            "InvalidCapacityReservationState",
            f"The capacity reservation '{reservation.reservation_id}' is cancelled only with a "
            "cancellation quote.",
        )


# Resource groups of capacity reservations, as targets of a launch.
#
# moto has such groups but not their members, which are stored here.
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html


@dataclass
class GroupMembers:
    """ARNs of the members by group name, in the order in which they were added."""

    by_name: dict[str, list[str]] = field(default_factory=dict)


def group_members(ec2: Any) -> GroupMembers:
    """Return the members of the resource groups of an EC2 backend's account and region."""
    return state_of(ec2, GroupMembers)


def reservations_in_group(ec2: Any, group_arn: str) -> list[CapacityReservation]:
    """Return the reservations of a group.

    Raises:
        EC2ClientError: The group does not exist.
    """
    groups = resourcegroups_backends[ec2.account_id][ec2.region_name].groups
    names = [group.name for group in groups.by_arn.values() if group.arn == group_arn]
    if not names:
        refuse("InvalidResourceGroup.NotFound", f"The resource group '{group_arn}' does not exist.")
    reservations = {each.arn: each for each in reservations_of(ec2).by_id.values()}
    members = group_members(ec2).by_name.get(names[0], [])
    return [reservations[arn] for arn in members if arn in reservations]
