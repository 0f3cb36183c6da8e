"""A new VPC without a NAT gateway."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.monitoring import CLOUDWATCH, PROMETHEUS
from tests.support.parallelcluster import raw_g4dn
from tests.support.stack_files import refusals

ENDPOINTS = ["cloudformation", "ec2", "logs"]


def network(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "new-vpc",
        "availability_zones": ["us-west-2a"],
        "nat_gateways": "none",
        "interface_endpoints": ENDPOINTS,
        **changes,
    }


@pytest.mark.parametrize(
    ("vpc", "head_node", "keys"),
    [
        (network(), "public", []),
        (network(nat_gateways="single", interface_endpoints=[]), "private", []),
        (network(interface_endpoints=["ec2"]), "public", ["network.interface_endpoints"]),
        (network(gateway_endpoints=["s3"]), "public", ["network.gateway_endpoints"]),
        (network(), "private", ["architecture.head_node.network"]),
        (network(public_subnets=False), "public", ["network.public_subnets"]),
        (network(public_subnets=False), "private", ["network.public_subnets"]),
    ],
)
def test_nodes_reach_what_they_need(vpc: dict[str, Any], head_node: str, keys: list[str]):
    raw = raw_g4dn(network=vpc, architecture__head_node__network=head_node)
    assert list(refusals(raw)) == keys


@pytest.mark.parametrize(
    ("monitoring", "endpoint"), [(CLOUDWATCH, "monitoring"), (PROMETHEUS, "aps-workspaces")]
)
def test_nodes_that_send_metrics_reach_their_destination_and_systems_manager(
    monitoring: dict[str, str], endpoint: str
):
    raw = raw_g4dn(network=network(), monitoring=monitoring)
    (found,) = refusals(raw).values()
    assert found.allowed == f"also {endpoint}, ssm, ssmmessages"
    endpoints = [*ENDPOINTS, endpoint, "ssm", "ssmmessages"]
    assert not refusals({**raw, "network": network(interface_endpoints=endpoints)})


@pytest.mark.parametrize(
    ("head_node", "keys"), [("public", ["architecture.head_node.network"]), ("private", [])]
)
def test_a_public_head_node_needs_a_public_subnet(head_node: str, keys: list[str]):
    raw = raw_g4dn(network__public_subnet_ids=[], architecture__head_node__network=head_node)
    assert list(refusals(raw)) == keys
