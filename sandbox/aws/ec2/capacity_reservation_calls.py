"""CreateCapacityReservation, DescribeCapacityReservations, Modify… and Cancel…."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from dateutil.parser import isoparse
from moto.core.responses import ActionResult
from moto.ec2.responses import EC2Response
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.capacity_reservations import (
    CapacityReservation,
    check_commitment,
    check_future_dated,
    described,
    reservations_of,
    used_count,
)
from trainyard.sandbox.aws.ec2.filters import matches, tags_for
from trainyard.sandbox.aws.ec2.instance_types import offered_zones, type_information
from trainyard.sandbox.aws.ec2.placement_groups import placement_groups_of
from trainyard.sandbox.aws.errors import refuse

_FILTERS = {
    "instance-type": "InstanceType",
    "owner-id": "OwnerId",
    "instance-platform": "InstancePlatform",
    "availability-zone": "AvailabilityZone",
    "availability-zone-id": "AvailabilityZoneId",
    "tenancy": "Tenancy",
    "state": "State",
    "end-date-type": "EndDateType",
    "instance-match-criteria": "InstanceMatchCriteria",
    "placement-group-arn": "PlacementGroupArn",
    "reservation-type": "ReservationType",
}


_MOST_INSTANCES = 1000
_COMMON = {"Action", "Version", "DryRun", "EndDate", "EndDateType", "InstanceCount"}
_COMMON |= {"InstanceMatchCriteria"}
_CREATED = frozenset(
    {
        *_COMMON,
        *("AvailabilityZone", "AvailabilityZoneId", "ClientToken", "EbsOptimized"),
        *("InstancePlatform", "InstanceType", "PlacementGroupArn", "StartDate"),
        *("CommitmentDuration", "DeliveryPreference"),
        *("TagSpecifications", "Tenancy"),
    }
)
_MODIFIED = frozenset({*_COMMON, "CapacityReservationId"})
"""Parameters that the sandbox knows."""


class CapacityReservationCalls(EC2Response):
    """Calls on reservations of both types; mixed into the EC2 response class."""

    def create_capacity_reservation(self) -> ActionResult:
        """CreateCapacityReservation."""
        parameters: Mapping[str, Any] = self.params
        _check_creation(self.ec2_backend, parameters)
        wanted = parameters.get("AvailabilityZone") or parameters.get("AvailabilityZoneId")
        zone = zone_of(self.ec2_backend, self.region, wanted)
        instance_type = parameters["InstanceType"]
        information = type_information(self.ec2_backend, instance_type)
        starts_at = time_in(parameters.get("StartDate"))
        vcpus = int(parameters["InstanceCount"]) * information["VCpuInfo"]["DefaultVCpus"]
        check_future_dated(parameters, starts_at, vcpus)
        if zone.name not in offered_zones(self.ec2_backend, instance_type):
            refuse(
                "Unsupported",
                f"The requested configuration is currently not supported in {zone.name}.",
            )
        self.error_on_dryrun()
        now = CLOCK.now()
        reservation = CapacityReservation(
            reservation_id=f"cr-{mock_random.get_random_hex(17)}",
            owner_id=self.current_account,
            region=self.region,
            availability_zone=zone.name,
            availability_zone_id=zone.zone_id,
            instance_type=instance_type,
            instance_count=int(parameters["InstanceCount"]),
            instance_platform=parameters["InstancePlatform"],
            tenancy=parameters.get("Tenancy", "default"),
            instance_match_criteria=parameters.get("InstanceMatchCriteria", "open"),
            created_at=now,
            starts_at=starts_at or now,
            ends_at=time_in(parameters.get("EndDate")),
            placement_group_arn=parameters.get("PlacementGroupArn"),
            ebs_optimized=bool(parameters.get("EbsOptimized", False)),
            commitment=(
                timedelta(seconds=int(parameters["CommitmentDuration"])) if starts_at else None
            ),
        )
        add_reservation(self.ec2_backend, reservation, parameters)
        return ActionResult({"CapacityReservation": described(self.ec2_backend, reservation)})

    def describe_capacity_reservations(self) -> ActionResult:
        """DescribeCapacityReservations; an id that does not exist is an error, as in EC2."""
        parameters: Mapping[str, Any] = self.params
        reservations = reservations_of(self.ec2_backend)
        ids = parameters.get("CapacityReservationIds") or list(reservations.by_id)
        answers = [described(self.ec2_backend, reservations.with_id(each)) for each in ids]
        filters = parameters.get("Filters")
        return ActionResult(
            {"CapacityReservations": [each for each in answers if matches(each, filters, _FILTERS)]}
        )

    def modify_capacity_reservation(self) -> ActionResult:
        """ModifyCapacityReservation: count, end date and match criteria of an owned reservation."""
        parameters: Mapping[str, Any] = self.params
        _know(parameters, _MODIFIED, "ModifyCapacityReservation")
        reservation = own_reservation(
            self.ec2_backend, parameters["CapacityReservationId"], self.current_account
        )
        if reservation.state != "active":
            refuse(
                "InvalidCapacityReservationState",
                f"The capacity reservation '{reservation.reservation_id}' is in the state "
                f"'{reservation.state}' and cannot be modified.",
            )
        count = parameters.get("InstanceCount")
        used = used_count(self.ec2_backend, reservation)
        if count is not None and int(count) < used:
            refuse(
                "InvalidParameterValue",
                f"The instance count {count} is below the {used} instances that run in "
                f"{reservation.reservation_id}.",
            )
        self.error_on_dryrun()
        if count is not None:
            reservation.instance_count = int(count)
        if parameters.get("EndDate") is not None:
            reservation.ends_at = time_in(parameters["EndDate"])
        if parameters.get("EndDateType") == "unlimited":
            reservation.ends_at = None
        if parameters.get("InstanceMatchCriteria"):
            reservation.instance_match_criteria = parameters["InstanceMatchCriteria"]
        return ActionResult({"Return": True})

    def cancel_capacity_reservation(self) -> ActionResult:
        """CancelCapacityReservation; a Capacity Block cannot be canceled."""
        reservation = own_reservation(
            self.ec2_backend, self.params["CapacityReservationId"], self.current_account
        )
        if reservation.reservation_type == "capacity-block":
            refuse(
                "InvalidCapacityReservationState",
                f"The capacity reservation '{reservation.reservation_id}' is a Capacity Block, "
                "which cannot be cancelled.",
            )
        check_commitment(reservation)
        self.error_on_dryrun()
        reservation.cancelled = True
        return ActionResult({"Return": True})


def _check_creation(ec2_backend: Any, parameters: Mapping[str, Any]) -> None:
    """Refuse what EC2 refuses of the count, the end and the placement group.

    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html

    Raises:
        EC2ClientError: EC2 refuses the request.
        NotImplementedError: the sandbox does not know a parameter.
    """
    _know(parameters, _CREATED, "CreateCapacityReservation")
    count = int(parameters["InstanceCount"])
    if not 1 <= count <= _MOST_INSTANCES:
        refuse("InvalidParameterValue", f"Invalid value '{count}' for InstanceCount.")
    ends = time_in(parameters.get("EndDate"))
    if (parameters.get("EndDateType", "unlimited") == "limited") != (ends is not None):
        refuse(
            "InvalidParameterCombination",
            "EndDate is required with the EndDateType limited, and only with it.",
        )
    if ends is not None and ends <= CLOCK.now():
        refuse("InvalidParameterValue", "The EndDate must be in the future.")
    arn = parameters.get("PlacementGroupArn")
    if arn is None:
        return
    group = placement_groups_of(ec2_backend).named(arn.rpartition("/")[2])
    if group["GroupArn"] != arn or group["Strategy"] != "cluster":
        refuse("InvalidParameterValue", f"{arn} is no cluster placement group of this account.")


def _know(parameters: Mapping[str, Any], known: frozenset[str], call: str) -> None:
    unknown = sorted(key for key in parameters if key not in known)
    if unknown:
        raise NotImplementedError(f"{call} with {', '.join(unknown)}")


def zone_of(ec2_backend: Any, region: str, wanted: str | None) -> Any:
    """Return a zone of the region by name or id.

    Raises:
        EC2ClientError: The zone does not exist.
    """
    zones = ec2_backend.zones[region]
    fitting = [zone for zone in zones if wanted in (zone.name, zone.zone_id)]
    if not fitting:
        refuse("InvalidParameterValue", f"Invalid availability zone: [{wanted}]")
    return fitting[0]


def own_reservation(ec2_backend: Any, reservation_id: str, account: str) -> CapacityReservation:
    """Return a reservation that the account owns.

    Raises:
        EC2ClientError: It does not exist, or another account owns it.
    """
    reservation = reservations_of(ec2_backend).with_id(reservation_id)
    if reservation.owner_id != account:
        refuse(
            "UnauthorizedOperation",
            f"The capacity reservation '{reservation_id}' is owned by {reservation.owner_id}.",
        )
    return reservation


def add_reservation(
    ec2_backend: Any, reservation: CapacityReservation, parameters: Mapping[str, Any]
) -> None:
    """Add a reservation with the tags of the request that creates it."""
    reservations_of(ec2_backend).add(reservation)
    tags = {tag["Key"]: tag["Value"] for tag in tags_for(parameters, "capacity-reservation")}
    if tags:
        ec2_backend.create_tags([reservation.reservation_id], tags)


def time_in(value: str | datetime | None) -> datetime | None:
    """Return a time of a request in UTC; None if it has none."""
    if value is None:
        return None
    moment = isoparse(value) if isinstance(value, str) else value
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
