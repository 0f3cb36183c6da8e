"""Offerings of Capacity Blocks in a region of an account.

Sources:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityBlockOffering.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from botocore.exceptions import ClientError

from trainyard.capacity.search_request import SearchRequest
from trainyard.components.account.lookup import AccountReader, AccountUnreachableError
from trainyard.components.catalog.capacity_blocks import ULTRASERVERS, Ultraserver
from trainyard.components.catalog.instance_types import INSTANCE_TYPES

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
        zone_ids = {zone.name: zone.zone_id for zone in reader.zones()} if found else {}
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
