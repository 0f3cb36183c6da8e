"""Where a VPC is not what the keys that adopt it say: all differences at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter

from tests.support.vpcs import (
    ADDRESSES,
    BLOCK,
    GATEWAY,
    NATS,
    PRIVATE,
    PRIVATE_TABLES,
    PUBLIC,
    PUBLIC_TABLE,
    S3,
    VPC,
    ZONES,
    adopting,
    layout,
    named,
    network,
)
from trainyard.components.account.facts import AccountFacts
from trainyard.components.config.network import NewVpc
from trainyard.components.config.problems import Problem
from trainyard.components.config.stack import StackConfig
from trainyard.components.network.adopted_vpc_check import adopted_vpc_problems
from trainyard.components.network.facts import LayoutEndpoint, LayoutTable, VpcLayout
from trainyard.components.network.lookup import UNKNOWN_MODE

OWN = {"trainyard:cluster": "p5-cb"}
Found = Callable[..., list[Problem]]


@pytest.fixture
def found(configure: Callable[..., StackConfig], facts: AccountFacts) -> Found:
    """Return the problems of a layout and a section `network`."""

    def run(
        account: VpcLayout | None, values: dict[str, Any] | None = None, **changes: Any
    ) -> list[Problem]:
        wanted = TypeAdapter(NewVpc).validate_json(json.dumps(values or network()))
        config = configure().model_copy(update={"network": wanted, "name": "p5-cb"})
        return [*adopted_vpc_problems(config, replace(facts, adopted_vpc=account, **changes))]

    return run


def with_(name: str, identity: str, **changes: Any) -> VpcLayout:
    """Return the layout with one object of a kind changed."""
    base = layout()
    objects = getattr(base, name)
    return replace(base, **{name: objects | {identity: replace(objects[identity], **changes)}})


def without(name: str, identity: str) -> VpcLayout:
    """Return the layout without one object."""
    objects = dict(getattr(layout(), name))
    del objects[identity]
    return layout(**{name: objects})


def test_a_vpc_that_is_what_the_stack_file_says_has_no_problem(found: Found) -> None:
    assert found(layout()) == []


def test_zones_can_be_given_by_id(found: Found) -> None:
    text = json.dumps(network()).replace("us-west-2a", "usw2-az1")
    assert found(layout(), json.loads(text)) == []


@pytest.mark.parametrize(
    ("account", "key", "problem", "allowed"),
    [
        (layout(cidr="10.1.0.0/16"), "cidr", "primary CIDR block", "10.1.0.0/16"),
        (
            layout(secondary={"100.64.0.0/16": named("vpc-cidr-assoc", 9)}),
            "adopt.cidr_association_ids[0]",
            "not the association of 100.64.0.0/16",
            named("vpc-cidr-assoc", 9),
        ),
        (
            layout(
                secondary={
                    "100.64.0.0/16": named("vpc-cidr-assoc", 9),
                    "100.65.0.0/16": layout().secondary["100.64.0.0/16"],
                }
            ),
            "adopt.cidr_association_ids[0]",
            "not the association of 100.64.0.0/16",
            named("vpc-cidr-assoc", 9),
        ),
        (layout(secondary={}), "adopt.cidr_association_ids[0]", "not the association", "the VPC"),
        (layout(dns_support=False), "adopt.vpc_id", "enable-dns-support is disabled", None),
        (layout(dns_hostnames=False), "adopt.vpc_id", "enable-dns-hostnames is disabled", None),
        (layout(tags={"trainyard:cluster": "prod"}), "adopt.vpc_id", "another stack", "a VPC"),
        (layout(internet_gateway_ids=()), "adopt.internet_gateway_id", "not attached", "none"),
        (
            without("tables", PUBLIC_TABLE),
            "adopt.public_route_table_id",
            "not a route table of the VPC",
            PRIVATE_TABLES[0],
        ),
        (
            with_("tables", PUBLIC_TABLE, default_route=NATS[0]),
            "adopt.public_route_table_id",
            f"does not lead to {GATEWAY}",
            GATEWAY,
        ),
        (
            with_("tables", PRIVATE_TABLES[1], default_route=NATS[0]),
            "adopt.zones.us-west-2b.private_route_table_id",
            f"does not lead to {NATS[1]}",
            NATS[1],
        ),
        (
            with_("tables", PRIVATE_TABLES[1], default_route=""),
            "adopt.zones.us-west-2b.private_route_table_id",
            "does not lead",
            NATS[1],
        ),
        (
            without("subnets", PRIVATE[0]),
            "adopt.zones.us-west-2a.private_subnet_id",
            f"not a subnet of {VPC}",
            "subnets",
        ),
        (
            with_("subnets", PUBLIC[0], cidr="10.0.111.0/24"),
            "adopt.zones.us-west-2a.public_subnet_id",
            "another CIDR block",
            "10.0.101.0/24",
        ),
        (
            with_("subnets", PRIVATE[0], zone="us-west-2c"),
            "adopt.zones.us-west-2a.private_subnet_id",
            "another zone",
            "us-west-2a",
        ),
        (
            with_("subnets", PRIVATE[0], table_id=""),
            "adopt.zones.us-west-2a.private_subnet_id",
            "another route table",
            PRIVATE_TABLES[0],
        ),
        (
            without("nat_gateways", NATS[0]),
            "adopt.zones.us-west-2a.nat_gateway_id",
            "not a NAT gateway of the VPC",
            NATS[1],
        ),
        (
            with_("nat_gateways", NATS[0], kind="private zonal"),
            "adopt.zones.us-west-2a.nat_gateway_id",
            "another kind",
            "public zonal",
        ),
        (
            with_("nat_gateways", NATS[0], kind=f"public {UNKNOWN_MODE}"),
            "adopt.zones.us-west-2a.nat_gateway_id",
            "another kind",
            "public zonal",
        ),
        (
            with_("nat_gateways", NATS[0], allocation_ids=ADDRESSES),
            "adopt.zones.us-west-2a.nat_gateway_id",
            "another list of addresses",
            ADDRESSES[0],
        ),
        (
            with_("nat_gateways", NATS[0], subnet_id=PUBLIC[1]),
            "adopt.zones.us-west-2a.nat_gateway_id",
            "another subnet",
            PUBLIC[0],
        ),
        (
            with_("nat_gateways", NATS[0], state="deleting"),
            "adopt.zones.us-west-2a.nat_gateway_id",
            "another state",
            "available",
        ),
        (
            with_("endpoints", S3, service="dynamodb"),
            "adopt.gateway_endpoint_ids.s3",
            "not a gateway endpoint of the VPC for s3",
            None,
        ),
        (
            without("endpoints", S3),
            "adopt.gateway_endpoint_ids.s3",
            "not a gateway endpoint of the VPC for s3",
            None,
        ),
        (
            with_("endpoints", S3, table_ids=frozenset({PUBLIC_TABLE})),
            "adopt.gateway_endpoint_ids.s3",
            "other route tables",
            PRIVATE_TABLES[0],
        ),
        (
            with_("endpoints", S3, table_ids=frozenset({PUBLIC_TABLE, *PRIVATE_TABLES, "rtb-x"})),
            "adopt.gateway_endpoint_ids.s3",
            "other route tables",
            PRIVATE_TABLES[0],
        ),
    ],
)
def test_a_difference_is_named_by_its_key_with_what_the_vpc_has(
    found: Found, account: VpcLayout, key: str, problem: str, allowed: str | None
) -> None:
    (only,) = found(account)
    assert only.path == f"trainyard:cluster.network.{key}"
    assert problem in only.problem
    assert only.remedy
    assert (allowed or "") in (only.allowed or "")


def test_all_differences_are_found_at_once(found: Found) -> None:
    account = layout(cidr="10.1.0.0/16", internet_gateway_ids=(), dns_support=False)
    assert len(found(account)) == 3


def test_a_vpc_that_does_not_exist_is_the_only_problem(found: Found) -> None:
    (only,) = found(None)
    assert "does not exist" in only.problem


def test_nothing_is_compared_with_what_could_not_be_read(found: Found) -> None:
    denied = ("ec2:DescribeNatGateways: UnauthorizedOperation",)
    assert found(None, unreadable=denied) == []


def endpoint(service: str, kind: str, tags: dict[str, str]) -> VpcLayout:
    """Return the layout with one more endpoint."""
    more = LayoutEndpoint(service=service, kind=kind, table_ids=frozenset(), tags=tags)
    return layout(endpoints={**layout().endpoints, named("vpce", 2): more})


def test_a_gateway_endpoint_that_exists_must_be_named(found: Found) -> None:
    values = network(gateway_endpoints=["s3", "dynamodb"])
    (only,) = found(endpoint("dynamodb", "Gateway", {}), values)
    assert only.path.endswith("adopt.gateway_endpoint_ids.dynamodb")
    assert named("vpce", 2) in only.remedy
    # The stack creates one that the VPC does not have, and finds it again in the next update.
    assert found(layout(), values) == []
    assert found(endpoint("dynamodb", "Gateway", OWN), values) == []
    # A VPC can have an interface endpoint and a gateway endpoint of one service.
    assert found(endpoint("dynamodb", "Interface", {}), values) == []


def test_an_interface_endpoint_is_not_created_twice(found: Found) -> None:
    values = network(interface_endpoints=["ecr.dkr"])
    (only,) = found(endpoint("ecr.dkr", "Interface", {}), values)
    assert only.path.endswith("interface_endpoints[0]")
    assert found(endpoint("ecr.dkr", "Interface", OWN), values) == []


def test_an_endpoint_may_have_routes_in_tables_that_the_stack_has_added(found: Found) -> None:
    table = named("rtb", 7)
    every = frozenset({PUBLIC_TABLE, *PRIVATE_TABLES, table})
    account = replace(
        with_("endpoints", S3, table_ids=every),
        tables={**layout().tables, table: LayoutTable(default_route=NATS[0], tags=OWN)},
    )
    assert found(account) == []


def test_a_stack_finds_the_vpc_with_its_own_tag(found: Found) -> None:
    assert found(layout(tags=OWN)) == []


def test_a_stack_without_adopt_is_not_compared(found: Found) -> None:
    assert found(None, network(adopt=None)) == []


def test_a_route_of_a_network_without_nat_gateways_is_not_compared(found: Found) -> None:
    zones = {
        zone: {
            "public_subnet_id": PUBLIC[index],
            "private_subnet_id": PRIVATE[index],
            "private_route_table_id": PRIVATE_TABLES[index],
        }
        for index, zone in enumerate(ZONES)
    }
    values = adopting(zones=zones, cidr_association_ids=[BLOCK]) | {"nat_gateways": "none"}
    assert found(with_("tables", PRIVATE_TABLES[0], default_route="tgw-1"), values) == []
    (only,) = found(without("tables", PRIVATE_TABLES[0]), values)
    assert "not a route table" in only.problem
    (only,) = found(with_("tables", PRIVATE_TABLES[0], default_route=GATEWAY), values)
    assert "so the subnet is public" in only.problem
