"""An account that fits the ParallelCluster stack files of `parallelcluster_plans`."""

from __future__ import annotations

from datetime import UTC, datetime
from ipaddress import IPv4Network
from typing import Any

from components.account.facts import (
    AccountFacts,
    ReservationFacts,
    SubnetFacts,
    VpcFacts,
)
from components.account.named_facts import ImageFacts
from components.architectures.prepare import Prepared, prepare
from components.catalog.versions import PARALLELCLUSTER_VERSION
from components.config.load import load_stack_config
from components.config.parallelcluster_stack import ParallelClusterStackConfig
from tests.support.stack_files import (
    AMI,
    PRIVATE_A,
    PRIVATE_B,
    PUBLIC_A,
    PUBLIC_B,
    REGION,
    RESERVATION,
    VPC,
)

STACK_FILE = "Pulumi.pc-p4de.yaml"
NOW = datetime(2026, 11, 21, tzinfo=UTC)
ZONE_IDS = {"a": "usw2-az2", "b": "usw2-az1"}


def subnet(subnet_id: str, **changes: Any) -> SubnetFacts:
    """Return a subnet of the VPC; its id contains its zone and, if it is public, ends with 1."""
    letter = subnet_id[len("subnet-0")]
    fields: dict[str, Any] = {
        "subnet_id": subnet_id,
        "vpc_id": VPC,
        "availability_zone": f"us-west-2{letter}",
        "zone_id": ZONE_IDS[letter],
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
        "zone_id": ZONE_IDS["b"],
        "state": "active",
        "instance_count": 4,
        "owner_id": "123456789012",
        "platform": "Linux/UNIX",
        "placement_group": None,
        "starts_at": None,
        "ends_at": None,
    }
    return ReservationFacts(**(fields | changes))


def account(**changes: Any) -> AccountFacts:
    """Return the facts of the account, with changes."""
    fields: dict[str, Any] = {
        "account_id": "123456789012",
        "vpc": VpcFacts(
            vpc_id=VPC, dns_support=True, dns_hostnames=True, endpoint_services=frozenset()
        ),
        "subnets": {i: subnet(i) for i in (PUBLIC_A, PUBLIC_B, PRIVATE_A, PRIVATE_B)},
        "reservations": {RESERVATION: odcr()},
        "key_pairs": {"sandbox": "ed25519"},
        "images": {AMI: image()},
        "offered_zone_ids": {
            name: frozenset(ZONE_IDS.values())
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
