"""Which VPCs of an account the keys of a network describe, and what differs in others."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter

from tests.support.vpcs import (
    NATS,
    PRIVATE,
    PRIVATE_TABLES,
    PUBLIC,
    PUBLIC_TABLE,
    S3,
    VPC,
    layout,
    named,
    network,
)
from trainyard.components.config.network import NewVpc
from trainyard.components.network.adopted_vpc_check import differences
from trainyard.components.network.facts import LayoutEndpoint, LayoutSubnet, VpcLayout
from trainyard.importing.live.clusters import NotDescribableError, proposal


def proposed(
    found: VpcLayout, *, private: tuple[str, ...] = PRIVATE, public: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the section, which `check --live` accepts."""
    section = proposal(found, private=private, public=public, region="us-west-2")
    wanted = TypeAdapter(NewVpc).validate_json(json.dumps(section))
    assert list(differences(wanted, found, own="train")) == []
    return section


def changed(name: str, identity: str, **changes: Any) -> VpcLayout:
    base = layout()
    objects = getattr(base, name)
    return replace(base, **{name: objects | {identity: replace(objects[identity], **changes)}})


def with_subnet(**changes: Any) -> VpcLayout:
    """Return the layout with one more subnet."""
    more = LayoutSubnet(cidr="10.0.200.0/24", zone="us-west-2c", zone_id="usw2-az3", table_id="")
    subnets = {**layout().subnets, named("subnet", 9): replace(more, **changes)}
    return layout(subnets=subnets)


def one_gateway(zone: int) -> VpcLayout:
    """Return the layout with a NAT gateway for both zones."""
    tables = dict(layout().tables)
    for table in PRIVATE_TABLES:
        tables[table] = replace(tables[table], default_route=NATS[zone])
    gateways = {NATS[zone]: layout().nat_gateways[NATS[zone]]}
    return layout(tables=tables, nat_gateways=gateways)


def test_a_vpc_with_gateways_in_every_zone_becomes_all_of_its_keys() -> None:
    assert proposed(layout()) == network()
    assert proposed(layout(), public=PUBLIC) == network()


def test_the_zone_of_a_single_nat_gateway_comes_first() -> None:
    section = proposed(one_gateway(1))
    assert section["nat_gateways"] == "single"
    assert section["availability_zones"] == ["us-west-2b", "us-west-2a"]
    assert section["private_subnet_cidrs"] == ["100.64.0.0/17", "10.0.1.0/24"]
    zones = section["adopt"]["zones"]
    assert zones["us-west-2b"]["nat_gateway_id"] == NATS[1]
    assert "nat_gateway_id" not in zones["us-west-2a"]


def test_private_subnets_can_share_a_route_table() -> None:
    base = one_gateway(0)
    shared = replace(base.subnets[PRIVATE[1]], table_id=PRIVATE_TABLES[0])
    subnets = {**base.subnets, PRIVATE[1]: shared}
    endpoint = replace(base.endpoints[S3], table_ids=frozenset({PUBLIC_TABLE, PRIVATE_TABLES[0]}))
    section = proposed(replace(base, subnets=subnets, endpoints={S3: endpoint}))
    tables = [each["private_route_table_id"] for each in section["adopt"]["zones"].values()]
    assert tables == [PRIVATE_TABLES[0]] * 2
    assert section["adopt"]["gateway_endpoint_ids"] == {"s3": S3}


def test_a_vpc_without_public_subnets_has_no_gateways() -> None:
    base = layout(internet_gateway_ids=(), nat_gateways={}, endpoints={})
    tables = {table: replace(base.tables[table], default_route="") for table in PRIVATE_TABLES}
    subnets = {subnet: base.subnets[subnet] for subnet in PRIVATE}
    section = proposed(replace(base, tables=tables, subnets=subnets))
    assert (section["public_subnets"], section["nat_gateways"]) == (False, "none")
    assert (section["gateway_endpoints"], "gateway_endpoint_ids" in section["adopt"]) == ([], False)


def test_subnets_of_other_zones_and_endpoints_of_other_tables_stay_outside() -> None:
    assert proposed(with_subnet()) == network()
    other = LayoutEndpoint(
        service="dynamodb", kind="Gateway", table_ids=frozenset({PUBLIC_TABLE}), tags={}
    )
    more = layout(endpoints={**layout().endpoints, named("vpce", 2): other})
    assert proposed(more) == network()


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (
            with_subnet(zone="us-west-2a", table_id=PUBLIC_TABLE),
            "us-west-2a has two public subnets",
        ),
        (changed("tables", PRIVATE_TABLES[1], default_route=""), "neither one NAT gateway for all"),
        (changed("nat_gateways", NATS[1], subnet_id=named("subnet", 9)), "neither one NAT gateway"),
        (changed("subnets", PRIVATE[0], table_id=""), "neither one NAT gateway"),
        (changed("nat_gateways", NATS[0], kind="private zonal"), "another kind"),
        (changed("nat_gateways", NATS[0], allocation_ids=()), "has no public address"),
        (changed("nat_gateways", NATS[0], state="pending"), "another state"),
        (layout(dns_hostnames=False), "enable-dns-hostnames is disabled"),
        (changed("subnets", PUBLIC[1], table_id=PRIVATE_TABLES[0]), "only one of a public and"),
        (layout(cidr="10.0.0.0/8"), "is not a size that EC2 allows"),
        (layout(secondary={}), "is outside of the CIDR blocks"),
    ],
)
def test_what_the_keys_do_not_describe_is_named(found: VpcLayout, why: str) -> None:
    with pytest.raises(NotDescribableError, match=why):
        proposed(found)


def test_two_private_subnets_in_a_zone_are_named() -> None:
    found = with_subnet(zone="us-west-2a", table_id=PRIVATE_TABLES[0])
    with pytest.raises(NotDescribableError, match="us-west-2a has two private subnets"):
        proposed(found, private=(*PRIVATE, named("subnet", 9)))


def test_a_public_subnet_of_the_cluster_in_another_zone_is_named() -> None:
    found = with_subnet(table_id=PUBLIC_TABLE)
    with pytest.raises(NotDescribableError, match="us-west-2c has only one"):
        proposed(found, public=(*PUBLIC, named("subnet", 9)))
    with pytest.raises(NotDescribableError, match=f"is not in {VPC}"):
        proposed(found, private=("subnet-elsewhere",))


def test_every_problem_is_named_at_once() -> None:
    found = layout(dns_hostnames=False, dns_support=False)
    with pytest.raises(NotDescribableError) as refused:
        proposed(found)
    assert "enable-dns-support" in str(refused.value)
    assert "enable-dns-hostnames" in str(refused.value)
