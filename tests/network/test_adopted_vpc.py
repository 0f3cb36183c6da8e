"""The component of an adopted VPC: what it imports, protects and leaves as it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter

from tests.support import vpcs
from tests.support.cloud import Cloud
from tests.support.vpcs import (
    PRIVATE_CIDRS,
    PRIVATE_TABLES,
    PUBLIC_CIDRS,
    ZONES,
)
from trainyard.components.config.network import NewVpc
from trainyard.components.network.cluster_network import ClusterNetwork
from trainyard.components.network.network_plan import plan_network

Adopted = Callable[..., Cloud]


@pytest.fixture
def adopted(deploy: Callable[..., Cloud]) -> Adopted:
    """Deploy the network of a section of a stack file."""

    def run(values: dict[str, Any]) -> Cloud:
        wanted = TypeAdapter(NewVpc).validate_json(json.dumps(values))
        plan = plan_network(wanted, region="us-west-2")
        return deploy(lambda: ClusterNetwork("dev-network", plan, tags={"team": "vision"}))

    return run


def test_every_object_is_imported_protected_and_kept(adopted: Adopted) -> None:
    cloud = adopted(vpcs.network())
    made = [each for each in cloud.registered if not each.is_component]
    wanted = TypeAdapter(NewVpc).validate_json(json.dumps(vpcs.network()))
    adoption = plan_network(wanted, region="us-west-2").adoption
    imported = {each.name.removeprefix("dev-network-"): each.import_id for each in made}
    assert imported == {**adoption.parts, "endpoints-s3": vpcs.S3}
    for each in made:
        assert (each.protect, each.retain_on_delete) == (True, True), each.name
        assert {"tags", "mapPublicIpOnLaunch", "instanceTenancy"} <= set(each.ignore_changes)


def test_a_new_zone_and_new_endpoints_are_the_stacks_own(adopted: Adopted) -> None:
    cloud = adopted(
        vpcs.network(
            availability_zones=[*ZONES, "us-west-2c"],
            public_subnet_cidrs=[*PUBLIC_CIDRS, "10.0.103.0/24"],
            private_subnet_cidrs=[*PRIVATE_CIDRS, "10.0.3.0/24"],
            gateway_endpoints=["s3", "dynamodb"],
            flow_logs=True,
        )
    )
    own = {each.name.removeprefix("dev-network-"): each for each in cloud.registered
           if not each.is_component and not each.import_id}  # fmt: skip
    assert {name for name in own if "flow-logs" not in name} == {
        "public-us-west-2c",
        "public-us-west-2c-association",
        "us-west-2c-nat",
        "us-west-2c-address",
        "private-us-west-2c",
        "private-us-west-2c-routes",
        "private-us-west-2c-default",
        "private-us-west-2c-association",
        "endpoints-dynamodb",
    }
    for each in own.values():
        assert (each.protect, each.retain_on_delete, each.ignore_changes) == (False, False, ())


def test_private_subnets_share_the_table_that_they_have(adopted: Adopted) -> None:
    shared = vpcs.adopting_zone(
        1,
        nat_gateway_id=None,
        allocation_id=None,
        private_route_table_id=PRIVATE_TABLES[0],
    )
    cloud = adopted(shared | {"nat_gateways": "single"})
    tables = [each.name for each in cloud.of_type("aws:ec2/routeTable:RouteTable")]
    assert sorted(tables) == [
        "dev-network-private-us-west-2a-routes",
        "dev-network-public-routes",
    ]
    association = cloud.one("dev-network-private-us-west-2b-association").inputs
    # The monitor of the tests gives resources ids of their own.
    table = cloud.one("dev-network-private-us-west-2a-association").inputs["routeTableId"]
    assert association["routeTableId"] == table
    (endpoint,) = cloud.of_type("aws:ec2/vpcEndpoint:VpcEndpoint")
    assert len(endpoint.inputs["routeTableIds"]) == 2
