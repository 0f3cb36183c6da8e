"""The account of the sandbox as a listing, without a sandbox."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Network
from typing import Any

from components.account.facts import (
    EfsFacts,
    FileSystemFacts,
    MountTargetFacts,
    ReservationFacts,
    SubnetFacts,
    VpcFacts,
    ZoneFacts,
)
from components.account.listing import AccountListing
from components.catalog.instance_types import INSTANCE_TYPES
from sandbox.account.fixture import fixture

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ACCOUNT = "123456789012"
ZONES = {
    "us-west-2a": "usw2-az2",
    "us-west-2b": "usw2-az1",
    "us-west-2c": "usw2-az3",
    "us-west-2d": "usw2-az4",
}
VPC = "vpc-0123456789abcdef0"
OTHER_VPC = "vpc-0fedcba9876543210"
BLOCK = "cr-0123456789abcdef0"
"""A Capacity Block of two p5 in us-west-2b."""
BLOCK_IN_D = "cr-0cb00000000000005"
EXPIRED = "cr-0cb00000000000003"
ENDING = "cr-0cb00000000000002"
ODCR_P4D = "cr-00d00000000000005"
ODCR_P4DE_IN_GROUP = "cr-00d00000000000001"
ASSISTED = "cr-0a550000000000001"
LUSTRE = "fs-0f5c0000000000001"
EFS = "fs-0ef50000000000001"


def listing(**changes: Any) -> AccountListing:
    """Return what `fixture.yaml` describes, and a VPC without private subnets."""
    given: dict[str, Any] = {
        "region": "us-west-2",
        "account_id": ACCOUNT,
        "zones": tuple(
            ZoneFacts(name=name, zone_id=zone_id, kind="availability-zone")
            for name, zone_id in ZONES.items()
        ),
        "vpcs": {each: _vpc(each) for each in (VPC, OTHER_VPC)},
        "names": {VPC: "training"},
        "subnets": {each["id"]: _subnet(each) for each in fixture()["subnets"]},
        "reservations": tuple(_reservation(each) for each in fixture()["reservations"]),
        "key_pairs": {"sandbox": "ed25519", "old": "rsa"},
        "fsx": tuple(_fsx(each) for each in fixture()["file_systems"]["lustre"]),
        "efs": (_efs(),),
        "offered_zone_ids": {
            name: frozenset(zone for zone in found.zone_ids if zone in ZONES.values())
            for name, found in INSTANCE_TYPES.items()
        },
    }
    return AccountListing(**{**given, **changes})


def _vpc(vpc_id: str) -> VpcFacts:
    return VpcFacts(
        vpc_id=vpc_id, dns_support=True, dns_hostnames=True, endpoint_services=frozenset()
    )


def _subnet(row: dict[str, Any]) -> SubnetFacts:
    cidr = IPv4Network(row["cidr"])
    return SubnetFacts(
        subnet_id=row["id"],
        vpc_id=VPC,
        availability_zone=row["zone"],
        zone_id=ZONES[row["zone"]],
        cidr=cidr,
        free_addresses=cidr.num_addresses - 5,
        default_route="internet-gateway" if row["routes"] == "public" else "nat",
    )


def _reservation(row: dict[str, Any]) -> ReservationFacts:
    starts, ends = _time(row["starts"]), _time(row["ends"]) if "ends" in row else None
    state = "scheduled" if starts > NOW else "expired" if ends and ends < NOW else "active"
    arn = row.get("placement_group_arn")
    return ReservationFacts(
        reservation_id=row["id"],
        kind=row.get("kind", "odcr"),
        instance_type=row["type"],
        availability_zone=row["zone"],
        zone_id=ZONES[row["zone"]],
        state=state,
        instance_count=row["count"],
        available_count=row["count"] if state == "active" else 0,
        owner_id=row.get("owner", ACCOUNT),
        platform="Linux/UNIX",
        placement_group=arn.rpartition("/")[2] if arn else row.get("placement_group"),
        placement_group_owner_id=arn.split(":")[4] if arn else ACCOUNT,
        starts_at=starts,
        ends_at=ends,
    )


def _time(text: str) -> datetime:
    unit = {"d": "days", "m": "minutes"}[text[-1]]
    return NOW + timedelta(**{unit: int(text[:-1])})


def _fsx(row: dict[str, Any]) -> FileSystemFacts:
    return FileSystemFacts(
        file_system_id=row["id"],
        type="LUSTRE",
        lifecycle="AVAILABLE",
        vpc_id=VPC,
        subnet_id=row["subnet"],
        availability_zone="us-west-2b",
        dns_name="",
        mount_name="abcdefgh",
        capacity_gib=row["capacity_gib"],
        settings={},
        tags={},
        security_group_ids=frozenset(),
        lets_in=(),
    )


def _efs() -> EfsFacts:
    targets = tuple(
        MountTargetFacts(
            vpc_id=VPC, availability_zone=zone, security_group_ids=frozenset(), lets_in=()
        )
        for zone in ZONES
    )
    return EfsFacts(file_system_id=EFS, targets=targets)
