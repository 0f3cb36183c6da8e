"""Search, purchase and extension of Capacity Blocks.

Error codes: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html. AWS does
not document whether an offering can be bought twice; here it can, as long as there are instances.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NoReturn

from moto.core.responses import ActionResult
from moto.ec2.responses import EC2Response
from moto.moto_api._internal import mock_random

from components.catalog.capacity_blocks import (
    EXTENDABLE_BEFORE_END,
    EXTENDABLE_STATES,
    MOST_DAYS,
    MOST_INSTANCES,
    is_duration,
)
from sandbox.account.fixture import fixture
from sandbox.aws.clock import CLOCK
from sandbox.aws.ec2.capacity_reservation_calls import (
    add_reservation,
    own_reservation,
    time_in,
    zone_of,
)
from sandbox.aws.ec2.capacity_reservations import CapacityReservation, described
from sandbox.aws.ec2.filters import matches
from sandbox.aws.ec2.instance_types import type_information
from sandbox.aws.ec2.offerings import (
    MOST_OFFERINGS,
    Offering,
    free_instances,
    offered_periods,
    offerings_of,
    offers_in,
)
from sandbox.aws.errors import refuse
from sandbox.aws.transitions import TRANSITIONS

_TYPE = "aws:ec2/capacityBlockReservation:CapacityBlockReservation"
_OF_AN_OFFERING = "CapacityBlockOfferingId"
_OF_AN_EXTENSION = "CapacityBlockExtensionOfferingId"
_EXTENSION_FILTERS = {
    "availability-zone": "AvailabilityZone",
    "availability-zone-id": "AvailabilityZoneId",
    "capacity-block-extension-offering-id": _OF_AN_EXTENSION,
    "capacity-block-extension-status": "CapacityBlockExtensionStatus",
    "capacity-reservation-id": "CapacityReservationId",
    "instance-type": "InstanceType",
}


class CapacityBlockCalls(EC2Response):
    """Calls on Capacity Blocks; mixed into the EC2 response class."""

    def describe_capacity_block_offerings(self) -> ActionResult:
        """DescribeCapacityBlockOfferings: what the fixture offers in every zone of the region."""
        parameters: Mapping[str, Any] = self.params
        if parameters.get("UltraserverType") or parameters.get("InstanceTypePreferences"):
            raise NotImplementedError("Capacity Blocks of UltraServers or of several types")
        instance_type = parameters.get("InstanceType") or _missing("InstanceType")
        count = int(parameters.get("InstanceCount") or 1)
        hours = int(parameters["CapacityDurationHours"])
        self._check_type(instance_type)
        if not 1 <= count <= MOST_INSTANCES:
            refuse("InvalidParameterValue", f"Invalid value '{count}' for InstanceCount.")
        _check_duration("CapacityDurationHours", hours)
        self.error_on_dryrun()
        periods = offered_periods(
            hours,
            earliest=time_in(parameters.get("StartDateRange")),
            latest=time_in(parameters.get("EndDateRange")),
        )
        found = [
            Offering(
                offering_id=_offering_id(),
                instance_type=instance_type,
                availability_zone=offer["zone"],
                instance_count=count,
                starts_at=starts_at,
                ends_at=ends_at,
                hourly_usd=offer["hourly_usd"],
            )
            for starts_at, ends_at in periods
            for offer in offers_in(self.region, instance_type)
            if free_instances(self.ec2_backend, offer, starts_at, ends_at) >= count
        ][:MOST_OFFERINGS]
        offerings_of(self.ec2_backend).by_id.update({each.offering_id: each for each in found})
        return ActionResult({"CapacityBlockOfferings": [each.described() for each in found]})

    def purchase_capacity_block(self) -> ActionResult:
        """PurchaseCapacityBlock: a reservation whose payment is pending, then scheduled."""
        parameters: Mapping[str, Any] = self.params
        offering = self._offering(parameters[_OF_AN_OFFERING], extends="")
        self.error_on_dryrun()
        zone = zone_of(self.ec2_backend, self.region, offering.availability_zone)
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
            bought=True,
            awaits_payment=True,
        )
        add_reservation(self.ec2_backend, reservation, parameters)
        answer = described(self.ec2_backend, reservation)
        TRANSITIONS.begin(_TYPE, "create", lambda: _pay(reservation))
        return ActionResult({"CapacityReservation": answer, "CapacityReservations": [answer]})

    def describe_capacity_block_extension_offerings(self) -> ActionResult:
        """DescribeCapacityBlockExtensionOfferings: one, if the instances are not sold."""
        parameters: Mapping[str, Any] = self.params
        reservation = self._extendable(parameters["CapacityReservationId"])
        ends_at = reservation.ends_at
        assert ends_at is not None  # noqa: S101 - every block has an end
        hours = int(parameters["CapacityBlockExtensionDurationHours"])
        _check_duration("CapacityBlockExtensionDurationHours", hours)
        extended = ends_at + timedelta(hours=hours)
        if extended - reservation.starts_at > timedelta(days=MOST_DAYS):
            refuse("InvalidParameterValue", "A Capacity Block has a total of at most 182 days.")
        self.error_on_dryrun()
        found = [
            Offering(
                offering_id=_offering_id(),
                instance_type=reservation.instance_type,
                availability_zone=reservation.availability_zone,
                instance_count=reservation.instance_count,
                starts_at=ends_at,
                ends_at=extended,
                hourly_usd=offer["hourly_usd"],
                extends=reservation.reservation_id,
            )
            for offer in offers_in(self.region, reservation.instance_type)
            if offer["zone"] == reservation.availability_zone
            and free_instances(self.ec2_backend, offer, ends_at, extended)
            >= reservation.instance_count
        ]
        offerings_of(self.ec2_backend).by_id.update({each.offering_id: each for each in found})
        answers = [
            {
                **_extension(each, reservation),
                "StartDate": reservation.starts_at,
                "Tenancy": reservation.tenancy,
            }
            for each in found
        ]
        return ActionResult({"CapacityBlockExtensionOfferings": answers})

    def purchase_capacity_block_extension(self) -> ActionResult:
        """PurchaseCapacityBlockExtension: the block ends later when the payment is processed."""
        parameters: Mapping[str, Any] = self.params
        reservation = self._extendable(parameters["CapacityReservationId"])
        offering = self._offering(parameters[_OF_AN_EXTENSION], extends=reservation.reservation_id)
        self.error_on_dryrun()
        bought: dict[str, Any] = {
            **_extension(offering, reservation),
            "CapacityReservationId": reservation.reservation_id,
            "CapacityBlockExtensionStatus": "payment-pending",
            "CapacityBlockExtensionPurchaseDate": CLOCK.now(),
        }
        offerings_of(self.ec2_backend).extensions.append(bought)
        answer = dict(bought)

        def pay() -> None:
            bought["CapacityBlockExtensionStatus"] = "payment-succeeded"
            reservation.ends_at = offering.ends_at

        TRANSITIONS.begin(_TYPE, "update", pay)
        return ActionResult({"CapacityBlockExtensions": [answer]})

    def describe_capacity_block_extension_history(self) -> ActionResult:
        """DescribeCapacityBlockExtensionHistory."""
        parameters: Mapping[str, Any] = self.params
        ids, filters = parameters.get("CapacityReservationIds"), parameters.get("Filters")
        found = [
            each
            for each in offerings_of(self.ec2_backend).extensions
            if (not ids or each["CapacityReservationId"] in ids)
            and matches(each, filters, _EXTENSION_FILTERS)
        ]
        return ActionResult({"CapacityBlockExtensions": found})

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

    def _offering(self, offering_id: str, *, extends: str) -> Offering:
        """Return an offering that can be bought now.

        Raises:
            EC2ClientError: It never existed, or its instances or its start are gone.
        """
        if not offering_id.startswith("cb-"):
            refuse(
                "InvalidCapacityBlockOfferingIdMalformed",
                f"The Capacity Block offering ID '{offering_id}' is malformed.",
            )
        offering = offerings_of(self.ec2_backend).by_id.get(offering_id)
        if offering is None or offering.extends != extends:
            refuse(
                "InvalidCapacityBlockOfferingIdNotFound",
                f"The Capacity Block offering ID '{offering_id}' cannot be found.",
            )
        free = max(
            free_instances(self.ec2_backend, each, offering.starts_at, offering.ends_at)
            for each in offers_in(self.region, offering.instance_type)
            if each["zone"] == offering.availability_zone
        )
        if offering.starts_at < CLOCK.now() or free < offering.instance_count:
            refuse(
                "InvalidCapacityBlockOfferingIdExpired",
                f"The Capacity Block offering ID '{offering_id}' is no longer available.",
            )
        return offering

    def _extendable(self, reservation_id: str) -> CapacityReservation:
        """Return a block that can be extended now.

        https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-extend.html

        Raises:
            EC2ClientError: It is no block of this account, or in another state.
        """
        reservation = own_reservation(self.ec2_backend, reservation_id, self.current_account)
        if reservation.reservation_type != "capacity-block" or reservation.ends_at is None:
            refuse("InvalidParameterValue", f"'{reservation_id}' is not a Capacity Block.")
        pending = any(
            each["CapacityReservationId"] == reservation_id
            and each["CapacityBlockExtensionStatus"] == "payment-pending"
            for each in offerings_of(self.ec2_backend).extensions
        )
        least, most = EXTENDABLE_BEFORE_END
        left = reservation.ends_at - CLOCK.now()
        if reservation.state not in EXTENDABLE_STATES or pending or not least <= left <= most:
            refuse(
                "InvalidCapacityReservationState",
                f"The Capacity Block '{reservation_id}' cannot be extended in its state.",
            )
        return reservation


def _extension(offering: Offering, reservation: CapacityReservation) -> dict[str, Any]:
    """Return the part of an extension that an offering and a purchase share."""
    return {
        _OF_AN_EXTENSION: offering.offering_id,
        "InstanceType": offering.instance_type,
        "InstanceCount": offering.instance_count,
        "AvailabilityZone": reservation.availability_zone,
        "AvailabilityZoneId": reservation.availability_zone_id,
        "CapacityBlockExtensionStartDate": offering.starts_at,
        "CapacityBlockExtensionEndDate": offering.ends_at,
        "CapacityBlockExtensionDurationHours": offering.hours,
        "UpfrontFee": offering.fee,
        "CurrencyCode": "USD",
    }


def _pay(reservation: CapacityReservation) -> None:
    reservation.awaits_payment = False


def _offering_id() -> str:
    return f"cb-{mock_random.get_random_hex(17)}"


def _check_duration(name: str, hours: int) -> None:
    days, rest = divmod(hours, 24)
    if rest or not is_duration(days):
        refuse("InvalidParameterValue", f"Invalid value '{hours}' for {name}.")


def _missing(name: str) -> NoReturn:
    refuse("MissingParameter", f"The request must contain the parameter {name}")
