"""Capacity Blocks: their offerings, purchases, extensions, events and end."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NoReturn

from moto.core.responses import ActionResult
from moto.ec2.models import ec2_backends
from moto.ec2.responses import EC2Response
from moto.moto_api._internal import mock_random

from trainyard.sandbox.account.fixture import fixture
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.capacity_block_terms import (
    EARLIEST_START,
    EXTENDABLE,
    FIRST_EXTENSION,
    LAST_EXTENSION,
    LATEST_START,
    MOST_DAYS,
    MOST_INSTANCES,
    MOST_OFFERINGS,
    ULTRASERVERS,
    end_of_day,
    is_sold,
)
from trainyard.sandbox.aws.ec2.capacity_reservation_calls import (
    add_reservation,
    own_reservation,
    time_in,
    zone_of,
)
from trainyard.sandbox.aws.ec2.capacity_reservations import (
    CapacityReservation,
    block_status,
    described,
    reservations_of,
)
from trainyard.sandbox.aws.ec2.filters import matches
from trainyard.sandbox.aws.ec2.instance_types import type_information
from trainyard.sandbox.aws.environment import ACCOUNT_ID
from trainyard.sandbox.aws.errors import refuse
from trainyard.sandbox.aws.state import state_of
from trainyard.sandbox.aws.transitions import TRANSITIONS

# What EC2 offers as Capacity Blocks and extensions, by the fixture and what is bought already.
#
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-purchase.html: one with a
# shorter and one with a longer duration on the same day.


@dataclass(frozen=True, kw_only=True)
class Offering:
    """A period for which instances can be bought, as a new block or to extend one."""

    offering_id: str
    instance_type: str
    """Also the type of an UltraServer, whose price and number are those of whole UltraServers."""
    availability_zone: str
    instance_count: int
    starts_at: datetime
    ends_at: datetime
    hourly_usd: float
    extends: str = ""
    """Id of the reservation that it extends; empty for a new block."""

    @property
    def hours(self) -> int:
        """The duration, in whole hours."""
        return (self.ends_at - self.starts_at) // timedelta(hours=1)

    @property
    def minutes(self) -> int:
        """The minutes of the duration in addition to its hours."""
        return (self.ends_at - self.starts_at) % timedelta(hours=1) // timedelta(minutes=1)

    @property
    def fee(self) -> str:
        """`UpfrontFee`."""
        hours = (self.ends_at - self.starts_at) / timedelta(hours=1)
        return f"{self.hourly_usd * self.instance_count * hours:.2f}"

    def described(self) -> dict[str, Any]:
        """Return it as DescribeCapacityBlockOfferings gives it.

        https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityBlockOffering.html
        """
        what = "Ultraserver" if self.instance_type in ULTRASERVERS else "Instance"
        return {
            "CapacityBlockOfferingId": self.offering_id,
            f"{what}Type": self.instance_type,
            "AvailabilityZone": self.availability_zone,
            f"{what}Count": self.instance_count,
            "StartDate": self.starts_at,
            "EndDate": self.ends_at,
            "CapacityBlockDurationHours": self.hours,
            "CapacityBlockDurationMinutes": self.minutes,
            "UpfrontFee": self.fee,
            "CurrencyCode": "USD",
            "Tenancy": "default",
        }


@dataclass
class Offerings:
    """Offerings by id, and the extensions that were bought with one."""

    by_id: dict[str, Offering] = field(default_factory=dict[str, Offering])
    extensions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """As DescribeCapacityBlockExtensionHistory gives them, in the order of their purchase."""


def offerings_of(ec2_backend: Any) -> Offerings:
    """Return the offerings of an EC2 backend."""
    return state_of(ec2_backend, Offerings)


def offers_in(region: str, instance_type: str) -> list[Mapping[str, Any]]:
    """Return the rows of the fixture for a type in a region."""
    return [
        each
        for each in fixture()["capacity_block_offers"]
        if each["type"] == instance_type and each["zone"][:-1] == region
    ]


def offered_periods(
    hours: int, *, earliest: datetime | None, latest: datetime | None
) -> Iterator[tuple[datetime, datetime]]:
    """Yield the periods of about a duration, by their start.

    A block that starts today ends at 11:30 UTC, so that it is shorter or longer than asked for.
    """
    now = CLOCK.now()
    first, last = max(now + EARLIEST_START, earliest or now), now + LATEST_START
    soon = first.replace(second=0, microsecond=0) + timedelta(minutes=1)
    shorter = end_of_day(soon + timedelta(hours=hours))
    if shorter > soon + timedelta(hours=hours):
        shorter -= timedelta(days=1)
    periods = [(soon, shorter), (soon, shorter + timedelta(days=1))]
    start = end_of_day(first)
    start += timedelta(days=1) if start < first else timedelta()
    while start <= last:
        periods.append((start, start + timedelta(hours=hours)))
        start += timedelta(days=1)
    for begins, ends in periods:
        if begins < ends and begins <= last and (latest is None or ends <= latest):
            yield begins, ends


def free_instances(
    ec2_backend: Any, offer: Mapping[str, Any], starts_at: datetime, ends_at: datetime
) -> int:
    """Return how many instances of an offer are not sold for any part of a period."""
    bought = sum(
        1 if each.ultraserver_type else each.instance_count
        for each in reservations_of(ec2_backend).by_id.values()
        if each.bought
        and (each.ultraserver_type or each.instance_type) == offer["type"]
        and each.availability_zone == offer["zone"]
        and each.starts_at < ends_at
        and (each.ends_at is None or each.ends_at > starts_at)
    )
    return offer["instances"] - bought


def sold_offering(ec2_backend: Any, region: str, offering_id: str, *, extends: str) -> Offering:
    """Return an offering that can be bought now.

    Raises:
        EC2ClientError: It never existed, or its instances or its start are gone.
    """
    if not offering_id.startswith("cb-"):
        refuse(
            "InvalidCapacityBlockOfferingIdMalformed",
            f"The Capacity Block offering ID '{offering_id}' is malformed.",
        )
    offering = offerings_of(ec2_backend).by_id.get(offering_id)
    if offering is None or offering.extends != extends:
        refuse(
            "InvalidCapacityBlockOfferingIdNotFound",
            f"The Capacity Block offering ID '{offering_id}' cannot be found.",
        )
    free = max(
        free_instances(ec2_backend, each, offering.starts_at, offering.ends_at)
        for each in offers_in(region, offering.instance_type)
        if each["zone"] == offering.availability_zone
    )
    if offering.starts_at < CLOCK.now() or free < offering.instance_count:
        refuse(
            "InvalidCapacityBlockOfferingIdExpired",
            f"The Capacity Block offering ID '{offering_id}' is no longer available.",
        )
    return offering


def new_offering_id() -> str:
    """Return the id of a new offering."""
    return f"cb-{mock_random.get_random_hex(17)}"


def check_duration(name: str, hours: int) -> None:
    """Refuse a duration that EC2 does not sell."""
    days, rest = divmod(hours, 24)
    if rest or not is_sold(days):
        refuse("InvalidParameterValue", f"Invalid value '{hours}' for {name}.")


# Search and purchase of Capacity Blocks.
#
# Error codes: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html. AWS does
# not document whether an offering can be bought twice; here it can, as long as there are instances.


_TYPE = "aws:ec2/capacityBlockReservation:CapacityBlockReservation"
_OF_AN_OFFERING = "CapacityBlockOfferingId"


class CapacityBlockCalls(EC2Response):
    """Calls on Capacity Blocks; mixed into the EC2 response class."""

    def describe_capacity_block_offerings(self) -> ActionResult:
        """DescribeCapacityBlockOfferings: what the fixture offers in every zone of the region."""
        parameters: Mapping[str, Any] = self.params
        if parameters.get("InstanceTypePreferences"):
            raise NotImplementedError("Capacity Blocks of several types")
        sold_type, count = self._requested(parameters)
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

    def _requested(self, parameters: Mapping[str, Any]) -> tuple[str, int]:
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


# Extensions of Capacity Blocks: offerings, purchases and their history.
#
# Error codes: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html.


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


# EC2's events about a Capacity Block: its start, and a warning before its instances terminate.
#
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-monitor.html
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html ("10 minutes before
# the termination process begins")


WARNING_LEAD = timedelta(minutes=10)
DELIVERED = "Capacity Block Reservation Delivered"
EXPIRATION_WARNING = "Capacity Block Reservation Expiration Warning"

_Due = tuple[datetime, str, CapacityReservation]


@dataclass
class _Sent:
    """Events that were sent: the reservation, the type and the time of the event."""

    events: set[tuple[str, str, datetime]] = field(default_factory=set)


def send_block_events(ec2: Any, events: Any) -> None:
    """Send the events of all blocks that are due, each once, in the order of their times.

    An extended block gets another warning before its new end.
    """
    sent = state_of(ec2, _Sent).events
    due = [each for block in reservations_of(ec2).by_id.values() for each in _due(block)]
    for at, name, block in sorted(due, key=lambda each: each[0]):
        if (block.reservation_id, name, at) in sent:
            continue
        sent.add((block.reservation_id, name, at))
        end = f"{block.ends_at:%Y-%m-%dT%H:%M:%SZ}"
        event = {
            "Source": "aws.ec2",
            "DetailType": name,
            "Time": at.timestamp(),
            "Resources": [block.arn],
            "Detail": json.dumps(
                {"capacity-reservation-id": block.reservation_id, "end-date": end}
            ),
        }
        events.put_events([event])


def _due(block: CapacityReservation) -> Iterator[_Due]:
    if block.terminates_at is None or block.state in ("cancelled", "payment-pending"):
        return
    warned = block.terminates_at - WARNING_LEAD
    for at, name in ((block.starts_at, DELIVERED), (warned, EXPIRATION_WARNING)):
        if at <= CLOCK.now():
            yield at, name, block


def end_reservation(reservation_id: str) -> bool:
    """End a reservation now: a Capacity Block as by its end date, others as if canceled.

    The timekeeper terminates the instances of a block; those of a canceled reservation continue at
    the On-Demand price. Return whether the reservation exists.
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CancelCapacityReservation.html
    """
    backends = ec2_backends[ACCOUNT_ID]
    known = (reservations_of(backends[region]).by_id for region in list(backends))
    found = next((each[reservation_id] for each in known if reservation_id in each), None)
    if found is None:
        return False
    if found.reservation_type == "capacity-block":
        found.ends_at = CLOCK.now()
    else:
        found.cancelled = True
    return True


def end_of_capacity(ec2: Any, autoscaling: Any) -> list[str]:
    """Terminate the instances of ending blocks, and notify Auto Scaling.

    Returns:
        Ids of the terminated instances.
    """
    ending = {
        reservation.reservation_id
        for reservation in reservations_of(ec2).by_id.values()
        if reservation.terminates_instances
    }
    ids = [
        instance.id
        for instance in ec2.all_instances()
        if instance.state == "running"
        and getattr(instance, "capacity_reservation_id", None) in ending
    ]
    if ids:
        ec2.terminate_instances(ids)
        autoscaling.notify_terminate_instances(ids)
    return ids
