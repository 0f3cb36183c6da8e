"""Extensions of Capacity Blocks: offerings, purchases and their history.

Error codes: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.responses import EC2Response

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.capacity_block_terms import (
    EXTENDABLE,
    FIRST_EXTENSION,
    LAST_EXTENSION,
    MOST_DAYS,
)
from trainyard.sandbox.aws.ec2.capacity_reservation_calls import own_reservation
from trainyard.sandbox.aws.ec2.capacity_reservations import CapacityReservation
from trainyard.sandbox.aws.ec2.filters import matches
from trainyard.sandbox.aws.ec2.offerings import (
    Offering,
    check_duration,
    free_instances,
    new_offering_id,
    offerings_of,
    offers_in,
    sold_offering,
)
from trainyard.sandbox.aws.errors import refuse
from trainyard.sandbox.aws.transitions import TRANSITIONS

_TYPE = "aws:ec2/capacityBlockReservation:CapacityBlockReservation"
_OF_AN_EXTENSION = "CapacityBlockExtensionOfferingId"
_EXTENSION_FILTERS = {
    "availability-zone": "AvailabilityZone",
    "availability-zone-id": "AvailabilityZoneId",
    "capacity-block-extension-offering-id": _OF_AN_EXTENSION,
    "capacity-block-extension-status": "CapacityBlockExtensionStatus",
    "capacity-reservation-id": "CapacityReservationId",
    "instance-type": "InstanceType",
}


class CapacityBlockExtensionCalls(EC2Response):
    """Calls on extensions of Capacity Blocks; mixed into the EC2 response class."""

    def describe_capacity_block_extension_offerings(self) -> ActionResult:
        """DescribeCapacityBlockExtensionOfferings: one, if the instances are not sold."""
        parameters: Mapping[str, Any] = self.params
        reservation = self._extendable(parameters["CapacityReservationId"])
        ends_at = reservation.ends_at
        assert ends_at is not None  # noqa: S101 - every block has an end
        hours = int(parameters["CapacityBlockExtensionDurationHours"])
        check_duration("CapacityBlockExtensionDurationHours", hours)
        extended = ends_at + timedelta(hours=hours)
        if extended - reservation.starts_at > timedelta(days=MOST_DAYS):
            refuse("InvalidParameterValue", "A Capacity Block has a total of at most 182 days.")
        self.error_on_dryrun()
        found = [
            Offering(
                offering_id=new_offering_id(),
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
        offering = sold_offering(
            self.ec2_backend,
            self.region,
            parameters[_OF_AN_EXTENSION],
            extends=reservation.reservation_id,
        )
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

    def _extendable(self, reservation_id: str) -> CapacityReservation:
        """Return a block that can be extended now.

        https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-extend.html

        Raises:
            EC2ClientError: It is no block of this account, or in another state.
        """
        reservation = own_reservation(self.ec2_backend, reservation_id, self.current_account)
        if reservation.reservation_type != "capacity-block" or reservation.ends_at is None:
            refuse("InvalidParameterValue", f"'{reservation_id}' is not a Capacity Block.")
        if reservation.ultraserver_type:
            raise NotImplementedError("extensions of UltraServers")
        pending = any(
            each["CapacityReservationId"] == reservation_id
            and each["CapacityBlockExtensionStatus"] == "payment-pending"
            for each in offerings_of(self.ec2_backend).extensions
        )
        in_time = LAST_EXTENSION <= reservation.ends_at - CLOCK.now() <= FIRST_EXTENSION
        if reservation.state not in EXTENDABLE or pending or not in_time:
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
