"""CreateCapacityReservation, DescribeCapacityReservations, Modify…, Cancel… and Capacity Blocks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from dateutil.parser import isoparse
from moto.core.responses import ActionResult
from moto.ec2.responses import EC2Response
from moto.moto_api._internal import mock_random

from sandbox.aws.clock import CLOCK
from sandbox.aws.ec2.capacity_reservations import (
    CapacityReservation,
    described,
    reservations_of,
    used_count,
)
from sandbox.aws.ec2.filters import matches, tags_for
from sandbox.aws.ec2.instance_types import offered_zones, type_information
from sandbox.aws.ec2.offerings import Offering, offerings_of
from sandbox.aws.errors import refuse

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


class CapacityReservationCalls(EC2Response):
    """Calls on On-Demand reservations and Capacity Blocks; mixed into the EC2 response class."""

    def create_capacity_reservation(self) -> ActionResult:
        """CreateCapacityReservation."""
        parameters: Mapping[str, Any] = self.params
        zone = self._zone(parameters)
        instance_type = parameters["InstanceType"]
        type_information(self.ec2_backend, instance_type)
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
            starts_at=_time(parameters.get("StartDate")) or now,
            ends_at=_time(parameters.get("EndDate")),
            placement_group_arn=parameters.get("PlacementGroupArn"),
            ebs_optimized=bool(parameters.get("EbsOptimized", False)),
        )
        self._add(reservation, parameters)
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
        reservation = self._own(parameters["CapacityReservationId"])
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
            reservation.ends_at = _time(parameters["EndDate"])
        if parameters.get("EndDateType") == "unlimited":
            reservation.ends_at = None
        if parameters.get("InstanceMatchCriteria"):
            reservation.instance_match_criteria = parameters["InstanceMatchCriteria"]
        return ActionResult({"Return": True})

    def cancel_capacity_reservation(self) -> ActionResult:
        """CancelCapacityReservation; a Capacity Block cannot be canceled."""
        reservation = self._own(self.params["CapacityReservationId"])
        if reservation.reservation_type == "capacity-block":
            refuse(
                "InvalidCapacityReservationState",
                f"The capacity reservation '{reservation.reservation_id}' is a Capacity Block, "
                "which cannot be cancelled.",
            )
        self.error_on_dryrun()
        reservation.cancelled = True
        return ActionResult({"Return": True})

    def describe_capacity_block_offerings(self) -> ActionResult:
        """DescribeCapacityBlockOfferings: one offering per zone, starting tomorrow."""
        parameters: Mapping[str, Any] = self.params
        instance_type = parameters.get("InstanceType", "")
        information = type_information(self.ec2_backend, instance_type)
        if "capacity-block" not in information["SupportedUsageClasses"]:
            refuse(
                "InvalidParameterValue",
                f"The instance type '{instance_type}' is not supported for Capacity Blocks.",
            )
        tomorrow = (CLOCK.now() + timedelta(days=1)).replace(second=0, microsecond=0)
        found = [
            Offering(
                offering_id=f"cb-{mock_random.get_random_hex(17)}",
                instance_type=instance_type,
                availability_zone=zone,
                instance_count=int(parameters.get("InstanceCount") or 1),
                # Capacity Blocks start and end at 11:30 UTC.
                starts_at=tomorrow.replace(hour=11, minute=30),
                duration_hours=int(parameters["CapacityDurationHours"]),
            )
            for zone in offered_zones(self.ec2_backend, instance_type)
        ]
        offerings = offerings_of(self.ec2_backend)
        offerings.update({each.offering_id: each for each in found})
        return ActionResult({"CapacityBlockOfferings": [each.described() for each in found]})

    def purchase_capacity_block(self) -> ActionResult:
        """PurchaseCapacityBlock: a reservation of type capacity-block, scheduled."""
        parameters: Mapping[str, Any] = self.params
        offering = offerings_of(self.ec2_backend).get(parameters["CapacityBlockOfferingId"])
        if offering is None:
            refuse(
                "InvalidCapacityBlockOfferingId.NotFound",
                f"The Capacity Block offering '{parameters['CapacityBlockOfferingId']}' "
                "does not exist.",
            )
        self.error_on_dryrun()
        zone = self._zone({"AvailabilityZone": offering.availability_zone})
        reservation = CapacityReservation(
            reservation_id=f"cr-{mock_random.get_random_hex(17)}",
            owner_id=self.current_account,
            region=self.region,
            availability_zone=zone.name,
            availability_zone_id=zone.zone_id,
            instance_type=offering.instance_type,
            instance_count=offering.instance_count,
            instance_platform=parameters["InstancePlatform"],
            instance_match_criteria="targeted",
            reservation_type="capacity-block",
            created_at=CLOCK.now(),
            starts_at=offering.starts_at,
            ends_at=offering.ends_at,
        )
        self._add(reservation, parameters)
        return ActionResult({"CapacityReservation": described(self.ec2_backend, reservation)})

    def _zone(self, parameters: Mapping[str, Any]) -> Any:
        wanted = parameters.get("AvailabilityZone") or parameters.get("AvailabilityZoneId")
        zones = self.ec2_backend.zones[self.region]
        fitting = [zone for zone in zones if wanted in (zone.name, zone.zone_id)]
        if not fitting:
            refuse("InvalidParameterValue", f"Invalid availability zone: [{wanted}]")
        return fitting[0]

    def _own(self, reservation_id: str) -> CapacityReservation:
        reservation = reservations_of(self.ec2_backend).with_id(reservation_id)
        if reservation.owner_id != self.current_account:
            refuse(
                "UnauthorizedOperation",
                f"The capacity reservation '{reservation_id}' is owned by {reservation.owner_id}.",
            )
        return reservation

    def _add(self, reservation: CapacityReservation, parameters: Mapping[str, Any]) -> None:
        reservations_of(self.ec2_backend).add(reservation)
        tags = {tag["Key"]: tag["Value"] for tag in tags_for(parameters, "capacity-reservation")}
        if tags:
            self.ec2_backend.create_tags([reservation.reservation_id], tags)


def _time(value: str | datetime | None) -> datetime | None:
    if value is None:
        return None
    moment = isoparse(value) if isinstance(value, str) else value
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
