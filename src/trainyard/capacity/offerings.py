"""What EC2 offers in a region of an account, and what is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.components.account.call_failures import explained, says_nothing_of_the_request
from trainyard.components.account.error_codes import NOT_ALLOWED
from trainyard.components.account.reader import AccountReader, AccountUnreachableError
from trainyard.components.capacity.plan import LINUX
from trainyard.components.catalog.capacity_blocks import (
    DURATIONS,
    LATEST_START,
    MOST_INSTANCES,
    MOST_INSTANCES_OF_ALL_BLOCKS,
    ULTRASERVERS,
    Ultraserver,
    is_duration,
)
from trainyard.components.catalog.instance_types import (
    INSTANCE_TYPES,
    UnknownInstanceTypeError,
    instance_type,
)
from trainyard.components.catalog.regions import can_be_region, nearest_region
from trainyard.components.compute.dry_run import WOULD_HAVE_SUCCEEDED
from trainyard.components.compute.lookup import offered_zone_ids
from trainyard.components.config.problems import Problem
from trainyard.components.network.lookup import look_up_zones

BLOCKS = "capacity-block"
"""The usage class of types that EC2 sells in Capacity Blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """The options of a search."""

    instance_type: str
    """An instance type, or the type of an UltraServer."""
    nodes: int
    """Instances or UltraServers."""
    days: int
    earliest: datetime | None = None
    """Earliest start; None for now."""
    latest: datetime | None = None
    """Latest end; None for any."""
    regions: tuple[str, ...]

    @property
    def is_ultraserver(self) -> bool:
        """Whether it is about UltraServers."""
        return self.instance_type in ULTRASERVERS

    def parameters(self) -> dict[str, Any]:
        """Return the arguments of DescribeCapacityBlockOfferings."""
        what = "Ultraserver" if self.is_ultraserver else "Instance"
        found: dict[str, Any] = {
            f"{what}Type": self.instance_type,
            f"{what}Count": self.nodes,
            "CapacityDurationHours": self.days * 24,
        }
        if self.earliest is not None:
            found["StartDateRange"] = self.earliest
        if self.latest is not None:
            found["EndDateRange"] = self.latest
        return found


def moment(text: str) -> datetime:
    """Return the time of `2026-12-01` or `2026-12-01T09:00`, local unless it has an offset.

    Raises:
        ValueError: it is neither.
    """
    return datetime.fromisoformat(text).astimezone()


def request_problems(request: SearchRequest, now: datetime) -> Iterator[Problem]:
    """Yield everything that EC2 would refuse."""
    yield from _type_problems(request.instance_type)
    if not 1 <= request.nodes <= MOST_INSTANCES:
        yield Problem(
            path="--nodes",
            problem="a Capacity Block has at most 64 instances",
            found=request.nodes,
            allowed=f"1 to {MOST_INSTANCES}",
            remedy="search for fewer nodes; a stack can use several blocks, with at most "
            f"{MOST_INSTANCES_OF_ALL_BLOCKS} instances in all",
        )
    if not is_duration(request.days):
        yield Problem(
            path="--days",
            problem="EC2 has no Capacity Blocks of this duration",
            found=request.days,
            allowed=DURATIONS,
            remedy=f"use --days {_nearest_duration(request.days)}",
        )
    yield from _date_problems(request, now)
    for region in request.regions:
        if not can_be_region(region):
            yield Problem(
                path="--regions",
                problem="this is not an AWS region",
                found=region,
                remedy=f"use {nearest_region(region) or 'a region such as us-west-2'}",
            )


def _type_problems(name: str) -> Iterator[Problem]:
    sold = [each for each, found in INSTANCE_TYPES.items() if BLOCKS in found.usage_classes]
    allowed = ", ".join((*sold, *ULTRASERVERS))
    if name in ULTRASERVERS:
        return
    try:
        known = instance_type(name)
    except UnknownInstanceTypeError as error:
        near = [each for each in error.nearest if each in sold]
        yield Problem(
            path="--type",
            problem="EC2 has no such instance type",
            found=name,
            allowed=allowed,
            remedy=f"use {near[0]}" if near else "use one of these types",
        )
        return
    if BLOCKS not in known.usage_classes:
        yield Problem(
            path="--type",
            problem="EC2 sells no Capacity Blocks of this instance type",
            found=name,
            allowed=allowed,
            remedy="use one of these types, or an On-Demand Capacity Reservation",
        )


def _date_problems(request: SearchRequest, now: datetime) -> Iterator[Problem]:
    start = request.earliest
    # Today's date is the start of the day.
    if start is not None and start < now - timedelta(days=1):
        yield Problem(
            path="--from",
            problem="this date is over",
            found=start.isoformat(),
            remedy="use a later date, or remove the option to search from now",
        )
    if start is not None and start > now + LATEST_START:
        yield Problem(
            path="--from",
            problem="Capacity Blocks start within eight weeks",
            found=start.isoformat(),
            allowed=f"until {(now + LATEST_START).astimezone():%Y-%m-%d}",
            remedy="use an earlier date, or search again later",
        )
    first = max(start or now, now)
    # A block that starts today may be up to a day shorter than the duration.
    if request.latest is not None and request.latest < first + timedelta(days=request.days - 1):
        yield Problem(
            path="--to",
            problem=f"no block of {request.days} days from {first:%Y-%m-%d} ends by then",
            found=request.latest.isoformat(),
            remedy=f"use {(first + timedelta(days=request.days + 1)).astimezone():%Y-%m-%d} or "
            "later, or fewer days",
        )


def _nearest_duration(days: int) -> int:
    return min((each for each in range(1, 183) if is_duration(each)), key=lambda d: abs(d - days))


# Whether an On-Demand Capacity Reservation can be requested, by a dry run.
#
# A dry run of EC2 checks the permissions of the caller. It reserves nothing, and it does not tell
# whether EC2 has the instances or whether the quota is sufficient: that is known when the
# reservation is created.
#
# Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html


CREATE_RESERVATION = "ec2:CreateCapacityReservation"


@dataclass(frozen=True, slots=True, kw_only=True)
class OdcrOffer:
    """The answer of EC2 for one zone."""

    zone: str
    zone_id: str
    code: str
    """Error code of EC2; a dry run always ends with one."""
    message: str

    @property
    def text(self) -> str:
        """The answer as text."""
        if self.code == WOULD_HAVE_SUCCEEDED:
            return "can be requested; only the request tells whether EC2 has the instances"
        if self.code in NOT_ALLOWED:
            return f"AWS denies {CREATE_RESERVATION}"
        return f"{self.code}: {self.message}"


def odcr_offers(reader: AccountReader, instance_type: str, nodes: int) -> list[OdcrOffer]:
    """Return the answers for the zones of the region that offer the type, by zone.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    offered = offered_zone_ids(reader, instance_type)
    zones = sorted((z for z in look_up_zones(reader) if z.zone_id in offered), key=lambda z: z.name)
    answers = [(zone, _dry_run(reader, instance_type, nodes, zone.name)) for zone in zones]
    return [
        OdcrOffer(zone=zone.name, zone_id=zone.zone_id, code=code, message=message)
        for zone, (code, message) in answers
    ]


def _dry_run(reader: AccountReader, instance_type: str, nodes: int, zone: str) -> tuple[str, str]:
    try:
        reader.ec2.create_capacity_reservation(
            DryRun=True,
            InstanceType=instance_type,
            InstancePlatform=LINUX,
            AvailabilityZone=zone,
            InstanceCount=nodes,
        )
    except ClientError as error:
        if says_nothing_of_the_request(error):
            raise AccountUnreachableError(explained(CREATE_RESERVATION, error)) from error
        said = error.response.get("Error", {})
        return said.get("Code", ""), said.get("Message", "")
    except BotoCoreError as error:
        raise AccountUnreachableError(explained(CREATE_RESERVATION, error)) from error
    raise AssertionError("a dry run ends with an error")


# Offerings of Capacity Blocks in a region of an account.
#
# Sources:
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityBlockOffering.html
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html


DESCRIBE_OFFERINGS = "ec2:DescribeCapacityBlockOfferings"
_LIMIT = "CapacityBlockDescribeLimitExceeded"
_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offering:
    """A Capacity Block that EC2 offers for a price."""

    offering_id: str
    account_id: str
    region: str
    instance_type: str
    """An instance type, or the type of an UltraServer."""
    nodes: int
    """Instances, or UltraServers."""
    zone: str
    """Name of the zone."""
    zone_id: str
    """Empty if the zone is not enabled in the account."""
    starts_at: datetime
    ends_at: datetime
    fee: Decimal
    """The whole price, which is paid in advance."""
    currency: str

    @property
    def hours(self) -> float:
        """The duration."""
        return (self.ends_at - self.starts_at) / _HOUR

    @property
    def ultraserver(self) -> Ultraserver | None:
        """What an UltraServer consists of; None for a block of instances."""
        return ULTRASERVERS.get(self.instance_type)

    @property
    def node_type(self) -> str:
        """The instance type of its nodes."""
        return self.ultraserver.instance_type if self.ultraserver else self.instance_type

    @property
    def instances(self) -> int:
        """The number of its nodes."""
        return self.nodes * (self.ultraserver.instances if self.ultraserver else 1)

    @property
    def node_hour(self) -> float:
        """The price of one node for an hour."""
        return float(self.fee) / self.instances / self.hours

    @property
    def accelerator_hour(self) -> float | None:
        """The price of one accelerator for an hour; None for a type that is not in the catalog."""
        if self.ultraserver:
            return float(self.fee) / self.nodes / self.ultraserver.accelerators / self.hours
        known = INSTANCE_TYPES.get(self.instance_type)
        if known is None or known.accelerators is None:
            return None
        return self.node_hour / known.accelerators.count

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON; times are RFC 3339, prices are text."""
        return {
            "offering_id": self.offering_id,
            "account_id": self.account_id,
            "region": self.region,
            "instance_type": self.instance_type,
            "nodes": self.nodes,
            "zone": self.zone,
            "zone_id": self.zone_id,
            "starts_at": self.starts_at.isoformat(),
            "ends_at": self.ends_at.isoformat(),
            "fee": str(self.fee),
            "currency": self.currency,
        }


def offering_of(content: Mapping[str, Any]) -> Offering:
    """Return the offering of `as_json`.

    Raises:
        KeyError, TypeError, ValueError, ArithmeticError: it is not one.
    """
    times = {key: datetime.fromisoformat(content[key]) for key in ("starts_at", "ends_at")}
    return Offering(**{**content, **times, "fee": Decimal(content["fee"])})


@dataclass(frozen=True, slots=True)
class RegionAnswer:
    """What EC2 offers in a region, or why it offers nothing."""

    region: str
    offerings: tuple[Offering, ...] = ()
    failure: str = ""


def offerings_in(reader: AccountReader, request: SearchRequest) -> RegionAnswer:
    """Ask EC2 for the offerings in the region of the reader."""
    region, denied = reader.region, len(reader.unreadable)
    try:
        pages = list(
            reader.pages(
                DESCRIBE_OFFERINGS,
                reader.ec2.describe_capacity_block_offerings,
                next_key="NextToken",
                **request.parameters(),
            )
        )
        if len(reader.unreadable) > denied:
            return RegionAnswer(region, failure=f"AWS denies {reader.unreadable[-1]}")
        found = [each for page in pages for each in page["CapacityBlockOfferings"]]
        zone_ids = {zone.name: zone.zone_id for zone in look_up_zones(reader)} if found else {}
        account = reader.account_id()
    except AccountUnreachableError as error:
        return RegionAnswer(region, failure=_explained(error, region))
    offers = [_offering(each, zone_ids, account, region) for each in found]
    offers.sort(key=lambda each: (each.starts_at, each.zone, each.fee))
    return RegionAnswer(region, tuple(offers))


def _offering(
    answer: Mapping[str, Any], zone_ids: Mapping[str, str], account: str, region: str
) -> Offering:
    ultraserver = answer.get("UltraserverType")
    return Offering(
        offering_id=answer["CapacityBlockOfferingId"],
        account_id=account,
        region=region,
        instance_type=ultraserver or answer["InstanceType"],
        nodes=answer["UltraserverCount"] if ultraserver else answer["InstanceCount"],
        zone=answer["AvailabilityZone"],
        zone_id=zone_ids.get(answer["AvailabilityZone"], ""),
        starts_at=answer["StartDate"],
        ends_at=answer["EndDate"],
        fee=Decimal(answer["UpfrontFee"]),
        currency=answer["CurrencyCode"],
    )


def _explained(error: AccountUnreachableError, region: str) -> str:
    cause = error.__cause__
    code = cause.response.get("Error", {}).get("Code") if isinstance(cause, ClientError) else ""
    if code != _LIMIT:
        return str(error)
    return (
        f"{DESCRIBE_OFFERINGS}: {_LIMIT}: the account has no quota for Capacity Blocks of this "
        "type, which is 0 by default, or it asked too often. Wait a minute; then look at the "
        f"quotas with `aws service-quotas list-service-quotas --service-code ec2 --region {region} "
        "--query \"Quotas[?contains(QuotaName, 'Capacity Blocks')].[QuotaName,QuotaCode,Value]\"`"
    )
