"""Search and purchase of Capacity Blocks.

Error codes: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html. AWS does
not document whether an offering can be bought twice; here it can, as long as there are instances.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from moto.core.responses import ActionResult
from moto.ec2.responses import EC2Response
from moto.moto_api._internal import mock_random

from trainyard.sandbox.account.fixture import fixture
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.capacity_block_terms import (
    MOST_INSTANCES,
    MOST_OFFERINGS,
    ULTRASERVERS,
)
from trainyard.sandbox.aws.ec2.capacity_reservation_calls import (
    add_reservation,
    time_in,
    zone_of,
)
from trainyard.sandbox.aws.ec2.capacity_reservations import (
    CapacityReservation,
    block_status,
    described,
    reservations_of,
)
from trainyard.sandbox.aws.ec2.instance_types import type_information
from trainyard.sandbox.aws.ec2.offerings import (
    Offering,
    check_duration,
    free_instances,
    new_offering_id,
    offered_periods,
    offerings_of,
    offers_in,
    sold_offering,
)
from trainyard.sandbox.aws.errors import refuse
from trainyard.sandbox.aws.transitions import TRANSITIONS

_TYPE = "aws:ec2/capacityBlockReservation:CapacityBlockReservation"
_OF_AN_OFFERING = "CapacityBlockOfferingId"


class CapacityBlockCalls(EC2Response):
    """Calls on Capacity Blocks; mixed into the EC2 response class."""

    def describe_capacity_block_offerings(self) -> ActionResult:
        """DescribeCapacityBlockOfferings: what the fixture offers in every zone of the region."""
        parameters: Mapping[str, Any] = self.params
        if parameters.get("InstanceTypePreferences"):
            raise NotImplementedError("Capacity Blocks of several types")
        sold_type, count = self._asked(parameters)
        hours = int(parameters["CapacityDurationHours"])
        check_duration("CapacityDurationHours", hours)
        self.error_on_dryrun()
        periods = offered_periods(
            hours,
            earliest=time_in(parameters.get("StartDateRange")),
            latest=time_in(parameters.get("EndDateRange")),
        )
        found = [
            Offering(
                offering_id=new_offering_id(),
                instance_type=sold_type,
                availability_zone=offer["zone"],
                instance_count=count,
                starts_at=starts_at,
                ends_at=ends_at,
                hourly_usd=offer["hourly_usd"],
            )
            for starts_at, ends_at in periods
            for offer in offers_in(self.region, sold_type)
            if free_instances(self.ec2_backend, offer, starts_at, ends_at) >= count
        ][:MOST_OFFERINGS]
        offerings_of(self.ec2_backend).by_id.update({each.offering_id: each for each in found})
        return ActionResult({"CapacityBlockOfferings": [each.described() for each in found]})

    def purchase_capacity_block(self) -> ActionResult:
        """PurchaseCapacityBlock: a reservation whose payment is pending, then scheduled."""
        parameters: Mapping[str, Any] = self.params
        offering = sold_offering(
            self.ec2_backend, self.region, parameters[_OF_AN_OFFERING], extends=""
        )
        self.error_on_dryrun()
        ultraserver = ULTRASERVERS.get(offering.instance_type)
        if ultraserver is not None and offering.instance_count > 1:
            raise NotImplementedError("a purchase of several UltraServers")
        zone = zone_of(self.ec2_backend, self.region, offering.availability_zone)
        reservation = CapacityReservation(
            reservation_id=f"cr-{mock_random.get_random_hex(17)}",
            owner_id=self.current_account,
            region=self.region,
            availability_zone=zone.name,
            availability_zone_id=zone.zone_id,
            instance_type=ultraserver.instance_type if ultraserver else offering.instance_type,
            instance_count=ultraserver.instances if ultraserver else offering.instance_count,
            ultraserver_type=offering.instance_type if ultraserver else "",
            instance_platform=parameters["InstancePlatform"],
            instance_match_criteria="targeted",
            reservation_type="capacity-block",
            created_at=CLOCK.now(),
            starts_at=offering.starts_at,
            ends_at=offering.ends_at,
            bought=True,
            awaits_payment=True,
        )
        add_reservation(self.ec2_backend, reservation, parameters)
        answer = described(self.ec2_backend, reservation)
        TRANSITIONS.begin(_TYPE, "create", lambda: _pay(reservation))
        block = [_block(reservation)] if ultraserver else []
        return ActionResult(
            {
                "CapacityReservation": answer,
                "CapacityReservations": [answer],
                "CapacityBlocks": block,
            }
        )

    def describe_capacity_block_status(self) -> ActionResult:
        """DescribeCapacityBlockStatus: the health of the UltraServers that have started.

        AWS does not document whether it lists blocks of instances too; here it does not. A healthy
        UltraServer has no unavailable capacity.
        """
        parameters: Mapping[str, Any] = self.params
        if parameters.get("CapacityBlockIds") or parameters.get("Filters"):
            raise NotImplementedError("the status of some Capacity Blocks")
        self.error_on_dryrun()
        found = [
            block_status(self.ec2_backend, each)
            for each in reservations_of(self.ec2_backend).by_id.values()
            if each.ultraserver_type and each.state == "active"
        ]
        return ActionResult({"CapacityBlockStatuses": found})

    def _asked(self, parameters: Mapping[str, Any]) -> tuple[str, int]:
        """Return the type of a search, of instances or UltraServers, and their number."""
        ultraserver = parameters.get("UltraserverType")
        if ultraserver:
            if ultraserver not in ULTRASERVERS or parameters.get("InstanceType"):
                raise NotImplementedError(f"offerings of {ultraserver}, or also of instances")
            return ultraserver, int(parameters.get("UltraserverCount") or 1)
        instance_type = parameters.get("InstanceType") or _missing("InstanceType")
        count = int(parameters.get("InstanceCount") or 1)
        self._check_type(instance_type)
        if not 1 <= count <= MOST_INSTANCES:
            refuse("InvalidParameterValue", f"Invalid value '{count}' for InstanceCount.")
        return instance_type, count

    def _check_type(self, instance_type: str) -> None:
        information = type_information(self.ec2_backend, instance_type)
        if "capacity-block" not in information["SupportedUsageClasses"]:
            refuse(
                "InvalidParameterValue",
                f"The instance type '{instance_type}' is not supported for Capacity Blocks in "
                f"'{self.region}'. Specify a compatible instance type and try again.",
            )
        if instance_type.partition(".")[0] not in fixture()["capacity_block_families"]:
            refuse(
                "CapacityBlockDescribeLimitExceeded",
                "Your existing service limits for this AWS account are not sufficient to use EC2 "
                "Capacity Blocks.",
            )


def _block(reservation: CapacityReservation) -> dict[str, Any]:
    """Return an UltraServer as one of `CapacityBlocks`."""
    return {
        "CapacityBlockId": reservation.capacity_block_id,
        "UltraserverType": reservation.ultraserver_type,
        "AvailabilityZone": reservation.availability_zone,
        "AvailabilityZoneId": reservation.availability_zone_id,
        "CapacityReservationIds": [reservation.reservation_id],
        "StartDate": reservation.starts_at,
        "EndDate": reservation.ends_at,
        "CreateDate": reservation.created_at,
        "State": reservation.state,
        "Tags": [],
    }


def _pay(reservation: CapacityReservation) -> None:
    reservation.awaits_payment = False


def _missing(name: str) -> NoReturn:
    refuse("MissingParameter", f"The request must contain the parameter {name}")
