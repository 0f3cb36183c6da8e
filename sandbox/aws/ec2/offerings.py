"""What EC2 offers as Capacity Blocks and extensions, by the fixture and what is bought already.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-purchase.html: one with a
shorter and one with a longer duration on the same day.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from moto.moto_api._internal import mock_random

from trainyard.sandbox.account.fixture import fixture
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.capacity_block_terms import (
    EARLIEST_START,
    LATEST_START,
    ULTRASERVERS,
    end_of_day,
    is_sold,
)
from trainyard.sandbox.aws.ec2.capacity_reservations import reservations_of
from trainyard.sandbox.aws.errors import refuse
from trainyard.sandbox.aws.state import state_of


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
