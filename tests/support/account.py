"""The sandbox's account without a sandbox: as a listing, and as facts that fit stack files."""

from __future__ import annotations

from datetime import datetime
from ipaddress import IPv4Network
from typing import Any

from tests.support.stack_files import (
    AMI,
    NOW,
    PRIVATE_A,
    PRIVATE_B,
    PUBLIC_A,
    PUBLIC_B,
    REGION,
    RESERVATION,
    VPC,
)
from trainyard.components.account.facts import AccountFacts
from trainyard.components.architectures.prepare import Examined, Prepared, examine, prepare
from trainyard.components.capacity.facts import ReservationFacts
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.versions import PARALLELCLUSTER_VERSION
from trainyard.components.compute.facts import ImageFacts
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.parallelcluster import ParallelClusterStackConfig
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.named.facts import NamedFacts
from trainyard.components.network.facts import SubnetFacts, VpcFacts, ZoneFacts
from trainyard.components.storage.facts import EfsFacts, FileSystemFacts, MountTargetFacts
from trainyard.init.account_listing import AccountListing
from trainyard.sandbox.account.fixture import fixture, moment

ACCOUNT = "123456789012"
ZONES = {
    "us-west-2a": "usw2-az2",
    "us-west-2b": "usw2-az1",
    "us-west-2c": "usw2-az3",
    "us-west-2d": "usw2-az4",
}
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
        "region": REGION,
        "account_id": ACCOUNT,
        "zones": tuple(
            ZoneFacts(name=name, zone_id=zone_id, kind="availability-zone")
            for name, zone_id in ZONES.items()
        ),
        "vpcs": {each: _vpc(each) for each in (VPC, OTHER_VPC)},
        "names": {VPC: "training"},
        "subnets": {each["id"]: subnet_facts(each) for each in fixture()["subnets"]},
        "reservations": tuple(reservation_facts(each) for each in fixture()["reservations"]),
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


def subnet_facts(row: dict[str, Any]) -> SubnetFacts:
    """Return a subnet of `fixture.yaml` as the program would read it."""
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


def reservation_facts(row: dict[str, Any], now: datetime = NOW) -> ReservationFacts:
    """Return a reservation of `fixture.yaml` as the program would read it at a moment."""
    starts, ends = moment(row["starts"], now), moment(row["ends"], now) if "ends" in row else None
    state = "scheduled" if starts > now else "expired" if ends and ends < now else "active"
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


STACK_FILE = "Pulumi.pc-p4de.yaml"


def subnet(subnet_id: str, **changes: Any) -> SubnetFacts:
    """Return a subnet of the VPC; its id contains its zone and, if it is public, ends with 1."""
    letter = subnet_id[len("subnet-0")]
    fields: dict[str, Any] = {
        "subnet_id": subnet_id,
        "vpc_id": VPC,
        "availability_zone": f"us-west-2{letter}",
        "zone_id": ZONES[f"us-west-2{letter}"],
        "cidr": IPv4Network("10.0.0.0/20"),
        "free_addresses": 4000,
        "default_route": "internet-gateway" if subnet_id.endswith("1") else "nat",
    }
    return SubnetFacts(**(fields | changes))


def image(image_id: str = AMI, **changes: Any) -> ImageFacts:
    """Return an image that ParallelCluster has built."""
    fields: dict[str, Any] = {
        "image_id": image_id,
        "state": "available",
        "architecture": "x86_64",
        "root_volume_gib": 45,
        "tags": {
            "parallelcluster:version": PARALLELCLUSTER_VERSION,
            "parallelcluster:os": "alinux2023",
            "parallelcluster:build_status": "available",
        },
    }
    return ImageFacts(**(fields | changes))


def odcr(**changes: Any) -> ReservationFacts:
    """Return the reservation of four p4de in us-west-2b."""
    fields: dict[str, Any] = {
        "reservation_id": RESERVATION,
        "kind": "odcr",
        "instance_type": "p4de.24xlarge",
        "availability_zone": "us-west-2b",
        "zone_id": ZONES["us-west-2b"],
        "state": "active",
        "instance_count": 4,
        "owner_id": ACCOUNT,
        "platform": "Linux/UNIX",
        "placement_group": None,
        "starts_at": None,
        "ends_at": None,
    }
    return ReservationFacts(**(fields | changes))


def account(**changes: Any) -> AccountFacts:
    """Return the facts of the account, with changes."""
    fields: dict[str, Any] = {
        "account_id": ACCOUNT,
        "vpc": VpcFacts(
            vpc_id=VPC, dns_support=True, dns_hostnames=True, endpoint_services=frozenset()
        ),
        "subnets": {i: subnet(i) for i in (PUBLIC_A, PUBLIC_B, PRIVATE_A, PRIVATE_B)},
        "reservations": {RESERVATION: odcr()},
        "key_pairs": {"sandbox": "ed25519"},
        "images": {AMI: image()},
        "offered_zone_ids": {
            name: frozenset((ZONES["us-west-2a"], ZONES["us-west-2b"]))
            for name in ("m5.8xlarge", "m5.4xlarge", "g4dn.8xlarge", "p4de.24xlarge")
        },
    }
    return AccountFacts(**(fields | changes))


def configured(raw: object) -> ParallelClusterStackConfig:
    """Return a checked configuration."""
    config = load_stack_config(raw, stack_file=STACK_FILE)
    assert isinstance(config, ParallelClusterStackConfig)
    return config


def prepared(raw: object, facts: AccountFacts) -> Prepared:
    """Return the result of `prepare` for a stack file in an account."""
    return prepare(configured(raw), facts, stack_file=STACK_FILE, region=REGION, now=NOW)


def judged(raw: object, facts: AccountFacts, *, stack_file: str = "Pulumi.p5-cb.yaml") -> Examined:
    """Return the checks of a stack file in an account."""
    config = load_stack_config(raw, stack_file=stack_file)
    return examine(config, facts, stack_file=stack_file, region=REGION, now=NOW)


def refused(found: Examined, check: str = "names") -> dict[str, Problem]:
    """Return the problems of one check, by key."""
    return {
        problem.path.removeprefix(f"{ROOT}."): problem
        for each in found.checks
        if each.name == check
        for problem in each.problems
    }


def in_slurm(raw: object, named: NamedFacts, **changes: Any) -> Examined:
    """Return the checks of a ParallelCluster stack."""
    facts = account(named=named, **changes)
    return judged(raw, facts, stack_file="Pulumi.pc-p4de.yaml")


def in_batch(raw: object, named: NamedFacts) -> Examined:
    """Return the checks of an AWS Batch stack."""
    facts = account(
        named=named,
        reservations={RESERVATION: odcr(instance_type="p4d.24xlarge", instance_count=2)},
        offered_zone_ids={"p4d.24xlarge": frozenset({"usw2-az1", "usw2-az2"})},
        images={},
    )
    return judged(raw, facts, stack_file="Pulumi.batch-p4d.yaml")
