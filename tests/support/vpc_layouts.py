"""An existing VPC for pure tests: the facts, and the section `network` that adopts it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from components.account.vpc_layout import (
    LayoutEndpoint,
    LayoutNat,
    LayoutSubnet,
    LayoutTable,
    VpcLayout,
)

ZONES = ("us-west-2a", "us-west-2b")


def named(prefix: str, number: int) -> str:
    """Return an id of EC2."""
    return f"{prefix}-{number:017x}"


VPC, GATEWAY, BLOCK = named("vpc", 1), named("igw", 1), named("vpc-cidr-assoc", 1)
PUBLIC_TABLE, PRIVATE_TABLES = named("rtb", 0), (named("rtb", 1), named("rtb", 2))
PUBLIC, PRIVATE = (
    (named("subnet", 1), named("subnet", 2)),
    (named("subnet", 3), named("subnet", 4)),
)
NATS, ADDRESSES = (
    (named("nat", 1), named("nat", 2)),
    (named("eipalloc", 1), named("eipalloc", 2)),
)
S3 = named("vpce", 1)
PUBLIC_CIDRS, PRIVATE_CIDRS = (
    ("10.0.101.0/24", "10.0.102.0/24"),
    ("10.0.1.0/24", "100.64.0.0/17"),
)


def network(**changes: Any) -> dict[str, Any]:
    """Return the section `network` of a VPC with a NAT gateway for each zone."""
    zones = {
        zone: {
            "public_subnet_id": PUBLIC[index],
            "private_subnet_id": PRIVATE[index],
            "private_route_table_id": PRIVATE_TABLES[index],
            "nat_gateway_id": NATS[index],
            "allocation_id": ADDRESSES[index],
        }
        for index, zone in enumerate(ZONES)
    }
    return {
        "kind": "new-vpc",
        "availability_zones": [*ZONES],
        "cidr": "10.0.0.0/16",
        "secondary_cidrs": ["100.64.0.0/16"],
        "public_subnet_cidrs": [*PUBLIC_CIDRS],
        "private_subnet_cidrs": [*PRIVATE_CIDRS],
        "nat_gateways": "one-per-zone",
        "gateway_endpoints": ["s3"],
        "adopt": {
            "vpc_id": VPC,
            "cidr_association_ids": [BLOCK],
            "internet_gateway_id": GATEWAY,
            "public_route_table_id": PUBLIC_TABLE,
            "gateway_endpoint_ids": {"s3": S3},
            "zones": zones,
        },
    } | changes


def adopting(**changes: Any) -> dict[str, Any]:
    """Return the section with changes in `adopt`."""
    base = network()
    return base | {"adopt": base["adopt"] | changes}


def adopting_zone(zone: int, **changes: Any) -> dict[str, Any]:
    """Return the section with changes of one zone in `adopt`; None removes a key."""
    zones = dict(network()["adopt"]["zones"])
    changed = zones[ZONES[zone]] | changes
    zones[ZONES[zone]] = {key: value for key, value in changed.items() if value is not None}
    return adopting(zones=zones)


def layout(**changes: Any) -> VpcLayout:
    """Return the facts about the VPC."""
    subnets = {
        identity: LayoutSubnet(cidr=cidr, zone=ZONES[index], zone_id=f"usw2-az{index + 1}",
                               table_id=table)
        for ids, cidrs, tables in (
            (PUBLIC, PUBLIC_CIDRS, (PUBLIC_TABLE, PUBLIC_TABLE)),
            (PRIVATE, PRIVATE_CIDRS, PRIVATE_TABLES),
        )
        for index, (identity, cidr, table) in enumerate(zip(ids, cidrs, tables, strict=True))
    }  # fmt: skip
    tables = {PUBLIC_TABLE: LayoutTable(default_route=GATEWAY, tags={})} | {
        table: LayoutTable(default_route=nat, tags={})
        for table, nat in zip(PRIVATE_TABLES, NATS, strict=True)
    }
    return replace(
        VpcLayout(
            vpc_id=VPC,
            cidr="10.0.0.0/16",
            secondary={"100.64.0.0/16": BLOCK},
            dns_support=True,
            dns_hostnames=True,
            tags={"Name": "ml"},
            internet_gateway_ids=(GATEWAY,),
            subnets=subnets,
            tables=tables,
            nat_gateways={
                nat: LayoutNat(
                    subnet_id=subnet,
                    state="available",
                    kind="public zonal",
                    allocation_ids=(address,),
                )
                for nat, subnet, address in zip(NATS, PUBLIC, ADDRESSES, strict=True)
            },
            endpoints={
                S3: LayoutEndpoint(
                    service="s3",
                    kind="Gateway",
                    table_ids=frozenset({PUBLIC_TABLE, *PRIVATE_TABLES}),
                    tags={},
                )
            },
        ),
        **changes,
    )
