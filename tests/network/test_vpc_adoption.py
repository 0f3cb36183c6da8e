"""What a stack imports of an existing VPC, and the ids that do not fit the other keys."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from tests.support import vpcs
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
    adopting_zone,
)
from trainyard.components.config.network import NewVpc
from trainyard.components.config.problems import Review
from trainyard.components.network.network_plan import NetworkPlan, plan_network
from trainyard.components.network.vpc_review import review_new_vpc


def read(values: dict[str, Any]) -> NewVpc:
    return TypeAdapter(NewVpc).validate_json(json.dumps(values))


def planned(values: dict[str, Any]) -> NetworkPlan:
    return plan_network(read(values), region="us-west-2")


def refused(values: dict[str, Any]) -> dict[str, str]:
    """Return the problems by key."""
    review = Review(stack_file="Pulumi.dev.yaml")
    review_new_vpc(read(values), "us-west-2", review)
    assert all(problem.remedy for problem in review.problems)
    found = {each.path.removeprefix("trainyard:cluster.network."): each for each in review.problems}
    return {key: each.problem for key, each in found.items()}


def test_every_object_of_the_vpc_is_imported_by_the_id_of_its_type() -> None:
    adoption = planned(vpcs.network()).adoption
    assert adoption.parts == {
        "vpc": VPC,
        "cidr-100.64.0.0-16": BLOCK,
        "internet": GATEWAY,
        "public-routes": PUBLIC_TABLE,
        "public-default": f"{PUBLIC_TABLE}_0.0.0.0/0",
        **{
            part: identity
            for index, zone in enumerate(ZONES)
            for part, identity in {
                f"public-{zone}": PUBLIC[index],
                f"public-{zone}-association": f"{PUBLIC[index]}/{PUBLIC_TABLE}",
                f"{zone}-nat": NATS[index],
                f"{zone}-address": ADDRESSES[index],
                f"private-{zone}": PRIVATE[index],
                f"private-{zone}-association": f"{PRIVATE[index]}/{PRIVATE_TABLES[index]}",
                f"private-{zone}-routes": PRIVATE_TABLES[index],
                f"private-{zone}-default": f"{PRIVATE_TABLES[index]}_0.0.0.0/0",
            }.items()
        },
    }
    assert adoption.endpoints == {"com.amazonaws.us-west-2.s3": S3}
    assert adoption.shared_tables == {}


def test_a_vpc_that_is_not_adopted_imports_nothing() -> None:
    plan = planned(vpcs.network(adopt=None))
    assert (plan.adoption.parts, plan.exists) == ({}, False)
    assert planned(vpcs.network()).exists


def one_gateway() -> dict[str, Any]:
    """Return a VPC whose private subnets share a route table and a NAT gateway."""
    changed = adopting_zone(1, nat_gateway_id=None, allocation_id=None,
                            private_route_table_id=PRIVATE_TABLES[0])  # fmt: skip
    return changed | {"nat_gateways": "single"}


def test_subnets_with_a_shared_table_import_the_table_and_its_route_once() -> None:
    adoption = planned(one_gateway()).adoption
    assert refused(one_gateway()) == {}
    assert adoption.shared_tables == {"private-us-west-2b": "private-us-west-2a"}
    tables = [part for part in adoption.parts if part.endswith(("-routes", "-default"))]
    assert sorted(tables) == [
        "private-us-west-2a-default",
        "private-us-west-2a-routes",
        "public-default",
        "public-routes",
    ]
    shared = f"{PRIVATE[1]}/{PRIVATE_TABLES[0]}"
    assert adoption.parts["private-us-west-2b-association"] == shared


def test_without_nat_gateways_private_tables_keep_the_routes_that_they_have() -> None:
    zones = {
        zone: {"private_subnet_id": PRIVATE[index], "private_route_table_id": PRIVATE_TABLES[index]}
        for index, zone in enumerate(ZONES)
    }
    closed = adopting(zones=zones, internet_gateway_id=None, public_route_table_id=None) | {
        "public_subnets": False,
        "public_subnet_cidrs": [],
        "nat_gateways": "none",
    }
    assert refused(closed) == {}
    assert not [part for part in planned(closed).adoption.parts if part.endswith("-default")]


def test_a_zone_that_is_not_adopted_is_created() -> None:
    grown = vpcs.network(
        availability_zones=[*ZONES, "us-west-2c"],
        public_subnet_cidrs=[*vpcs.PUBLIC_CIDRS, "10.0.103.0/24"],
        private_subnet_cidrs=[*vpcs.PRIVATE_CIDRS, "10.0.3.0/24"],
    )
    assert refused(grown) == {}
    assert planned(grown).adoption.parts == planned(vpcs.network()).adoption.parts


def test_what_fits_is_not_refused() -> None:
    assert refused(vpcs.network()) == {}


@pytest.mark.parametrize(
    ("values", "key", "problem"),
    [
        (adopting(internet_gateway_id=None), "adopt.internet_gateway_id", "is missing"),
        (adopting(public_route_table_id=None), "adopt.public_route_table_id", "is missing"),
        (
            adopting_zone(0, public_subnet_id=None),
            "adopt.zones.us-west-2a.public_subnet_id",
            "is missing",
        ),
        (
            adopting_zone(1, nat_gateway_id=None),
            "adopt.zones.us-west-2b.nat_gateway_id",
            "is missing",
        ),
        (
            vpcs.network(nat_gateways="single"),
            "adopt.zones.us-west-2b.allocation_id",
            "does not have here",
        ),
        (
            vpcs.network(
                public_subnets=False, public_subnet_cidrs=[], nat_gateways="none"
            ),
            "adopt.internet_gateway_id",
            "does not have here",
        ),
        (adopting(cidr_association_ids=[]), "adopt.cidr_association_ids", "one id for each"),
        (
            vpcs.network(gateway_endpoints=[]),
            "adopt.gateway_endpoint_ids.s3",
            "is not in network.gateway_endpoints",
        ),
        (
            vpcs.network(
                availability_zones=["us-west-2a", "us-west-2c"],
            ),
            "adopt.zones.us-west-2b",
            "is not in network.availability_zones",
        ),
        (adopting_zone(1, private_subnet_id=PRIVATE[0]), "adopt.zones", "names an object twice"),
        (
            adopting_zone(1, private_route_table_id=PUBLIC_TABLE),
            "adopt.public_route_table_id",
            "is also the route table of a private subnet",
        ),
        (
            adopting_zone(1, private_route_table_id=PRIVATE_TABLES[0]),
            "nat_gateways",
            "needs a route table for each",
        ),
        (
            one_gateway() | {
                "availability_zones": ["us-west-2c", *ZONES],
                "public_subnet_cidrs": ["10.0.103.0/24", *vpcs.PUBLIC_CIDRS],
                "private_subnet_cidrs": ["10.0.3.0/24", *vpcs.PRIVATE_CIDRS],
            },
            "availability_zones",
            "begins with a new zone",
        ),
    ],
)  # fmt: skip
def test_ids_that_do_not_fit_the_other_keys_are_refused(
    values: dict[str, Any], key: str, problem: str
) -> None:
    found = refused(values)
    assert problem in found[key]


@given(st.permutations(list(vpcs.network()["adopt"])), st.booleans())
def test_the_order_of_the_keys_does_not_change_what_is_imported(
    order: list[str], later: bool
) -> None:
    adopt = vpcs.network()["adopt"]
    zones = dict(reversed(adopt["zones"].items())) if later else adopt["zones"]
    shuffled = {key: zones if key == "zones" else adopt[key] for key in order}
    found = planned(vpcs.network(adopt=shuffled)).adoption
    assert found == planned(vpcs.network()).adoption
