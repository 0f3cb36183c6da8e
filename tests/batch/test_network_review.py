"""A new VPC without a NAT gateway: requirements of Batch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.batch import RAW
from tests.support.monitoring import CLOUDWATCH, PROMETHEUS
from tests.support.stack_files import raw_config, refusals
from trainyard.components.catalog.batch import ENDPOINTS_WITHOUT_NAT

PRIVATE_IMAGE = "123456789012.dkr.ecr.us-west-2.amazonaws.com/training:1.0"


def closed(image: str | None, **network: Any) -> dict[str, Any]:
    raw = raw_config(
        RAW,
        network={
            "kind": "new-vpc",
            "availability_zones": ["us-west-2b"],
            "nat_gateways": "none",
            "interface_endpoints": list(ENDPOINTS_WITHOUT_NAT),
            **network,
        },
        architecture__repository={},
    )
    if image is not None:
        raw["architecture"]["job_definitions"]["nccl-single"]["image"] = image
    return raw


@pytest.mark.parametrize("image", ["repository", PRIVATE_IMAGE])
def test_private_images_come_through_endpoints(image: str):
    assert not refusals(closed(image))


ELSEWHERE = PRIVATE_IMAGE.replace("us-west-2", "us-east-1")


@pytest.mark.parametrize("image", [None, "quay.io/training/image:1.0", ELSEWHERE])
def test_public_images_and_those_of_another_region_do_not(image: str | None):
    found = refusals(closed(image))
    assert set(found) == {"architecture.job_definitions.nccl-single.image"}
    assert "image: repository" in found["architecture.job_definitions.nccl-single.image"].remedy


@pytest.mark.parametrize("missing", ENDPOINTS_WITHOUT_NAT)
def test_each_endpoint_is_needed(missing: str):
    given = [name for name in ENDPOINTS_WITHOUT_NAT if name != missing]
    found = refusals(closed("repository", interface_endpoints=given))
    assert found["network.interface_endpoints"].allowed == f"also {missing}"


@pytest.mark.parametrize(
    ("monitoring", "endpoint"), [(CLOUDWATCH, "monitoring"), (PROMETHEUS, "aps-workspaces")]
)
def test_nodes_that_send_metrics_reach_their_destination(monitoring: dict[str, str], endpoint: str):
    raw = {**closed("repository"), "monitoring": monitoring}
    assert refusals(raw)["network.interface_endpoints"].allowed == f"also {endpoint}"


def test_the_layers_of_images_lie_in_s3():
    found = refusals(closed("repository", gateway_endpoints=["dynamodb"]))
    assert found["network.gateway_endpoints"].allowed == "also s3"


def test_with_a_nat_gateway_nothing_is_needed():
    assert not refusals(closed(None, nat_gateways="single", interface_endpoints=[]))


def test_a_vpc_without_public_subnets_is_opened_with_both_keys():
    """VPCM-04: a NAT gateway alone would be refused because it needs a public subnet."""
    found = refusals(closed(None, public_subnets=False))
    (problem,) = found.values()
    assert "network.public_subnets' true; " in problem.remedy
    assert problem.remedy.endswith("network.nat_gateways' single")
    assert not refusals(closed("repository", public_subnets=False))
