"""Problems of the head node."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.parallelcluster import raw_g4dn
from tests.support.stack_files import PUBLIC_A, notes, refusals

NEW_VPC = {"kind": "new-vpc", "availability_zones": ["us-west-2a", "us-west-2b"]}
KEY = "architecture.head_node"


def head(**changes: Any) -> dict[str, Any]:
    return raw_g4dn(**{f"architecture__head_node__{key}": value for key, value in changes.items()})


@pytest.mark.parametrize(
    ("raw", "key", "says"),
    [
        (head(instance_type="m5.hugh"), "instance_type", "catalog"),
        (head(subnet_id="subnet-" + "f" * 17), "subnet_id", "not a subnet"),
        (
            head(subnet_id=PUBLIC_A, availability_zone="us-west-2a"),
            "subnet_id",
            "is given together with",
        ),
        (head(availability_zone="eu-west-1a"), "availability_zone", "region"),
        (
            raw_g4dn(network=NEW_VPC, architecture__head_node__subnet_id=PUBLIC_A),
            "subnet_id",
            "creates the subnets",
        ),
        (head(root_volume={"size_gib": 44}), "root_volume.size_gib", "AMIs need"),
    ],
)
def test_a_head_node_that_does_not_work_is_refused(raw: dict[str, Any], key: str, says: str):
    found = refusals(raw)
    assert list(found) == [f"{KEY}.{key}"]
    assert says in found[f"{KEY}.{key}"].problem


@pytest.mark.parametrize(("nodes", "refused"), [(10, False), (11, True)])
def test_a_head_node_has_the_memory_that_its_nodes_need(nodes: int, *, refused: bool):
    """HeadNodeMemorySizeValidator: 0.6 GiB, and 1 GiB for 25 nodes."""
    raw = head(instance_type="t3.micro")
    raw["architecture"]["queues"]["compute"]["compute_resources"]["g4dn"]["maximum"] = nodes
    assert list(refusals(raw)) == [f"{KEY}.instance_type"] * refused


def test_offline_the_zone_of_the_head_node_is_noted():
    raw = head(availability_zone="us-west-2b")
    assert "head node: launches in the public subnet in us-west-2b" in notes(raw)


def test_a_zone_without_subnet_is_refused_once_the_account_was_asked():
    found = refusals(head(availability_zone="us-west-2b"), subnets_known=True)
    assert list(found) == [f"{KEY}.availability_zone"]


def test_a_zone_of_a_new_vpc_without_the_subnet_is_refused():
    raw = raw_g4dn(network=NEW_VPC, architecture__head_node__availability_zone="us-west-2c")
    found = refusals(raw, subnets_known=True)
    assert found[f"{KEY}.availability_zone"].allowed == "us-west-2a, us-west-2b"
