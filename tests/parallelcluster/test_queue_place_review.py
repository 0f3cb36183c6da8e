"""Zones and subnets of queues: problems, and facts that only the account knows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.parallelcluster import raw_g4dn, raw_p4de
from tests.support.stack_files import (
    PRIVATE_A,
    PRIVATE_B,
    PUBLIC_A,
    RESERVATION,
    notes,
    refusals,
)

NEW_VPC = {"kind": "new-vpc", "availability_zones": ["us-west-2a", "us-west-2b"]}
QUEUE = "architecture.queues.compute"


def queue(**changes: Any) -> dict[str, Any]:
    return raw_g4dn(
        **{f"architecture__queues__compute__{key}": value for key, value in changes.items()}
    )


@pytest.mark.parametrize(
    ("raw", "key", "says"),
    [
        (queue(availability_zone="us-east-1a"), f"{QUEUE}.availability_zone", "region"),
        (queue(subnet_ids=[PUBLIC_A]), f"{QUEUE}.subnet_ids", "public subnet"),
        (queue(subnet_ids=["subnet-" + "f" * 17]), f"{QUEUE}.subnet_ids", "not one of"),
        (queue(subnet_ids=[PRIVATE_A, PRIVATE_A]), f"{QUEUE}.subnet_ids", "twice"),
        (
            queue(subnet_ids=[PRIVATE_A], availability_zone="us-west-2a"),
            f"{QUEUE}.subnet_ids",
            "is given together with",
        ),
        (
            raw_g4dn(network=NEW_VPC, architecture__queues__compute__subnet_ids=[PRIVATE_A]),
            f"{QUEUE}.subnet_ids",
            "creates the subnets",
        ),
        (
            queue(compute_resources__g4dn__efa_enabled=True),
            f"{QUEUE}.availability_zone",
            "EFA traffic",
        ),
        (
            queue(subnet_ids=[PRIVATE_A, PRIVATE_B], compute_resources__g4dn__efa_enabled=True),
            f"{QUEUE}.subnet_ids",
            "EfaMultiAzValidator",
        ),
        (
            raw_g4dn(
                network=NEW_VPC, architecture__queues__compute__availability_zone="us-west-2c"
            ),
            "network.availability_zones[2]",
            "must launch in us-west-2c",
        ),
    ],
)
def test_a_place_that_does_not_work_is_refused(raw: dict[str, Any], key: str, says: str):
    found = refusals(raw)
    assert list(found) == [key]
    assert says in found[key].problem


def test_reservations_of_two_zones_do_not_share_a_queue():
    raw = raw_p4de()
    raw["storage"] = {}
    raw["reservations"]["other"] = {
        "kind": "odcr",
        "reservation_id": "cr-0123456789abcdef1",
        "availability_zone": "us-west-2a",
    }
    resources = raw["architecture"]["queues"]["compute-gpu"]["compute_resources"]
    resources["other"] = {
        "instance_type": "p4de.24xlarge",
        "maximum": 1,
        "purchase_option": "other",
    }
    (problem,) = refusals(raw).values()
    assert problem.found == "`p4de` in us-west-2b, `other` in us-west-2a"


def test_offline_the_subnet_of_a_reservation_is_noted():
    raw = raw_p4de(storage={})
    assert "queue compute-gpu: launches in the private subnet in us-west-2b" in notes(raw)


def test_what_the_account_did_not_say_is_refused():
    raw = raw_p4de(storage={}, architecture__head_node__subnet_id=PUBLIC_A)
    found = refusals(raw, subnets_known=True)
    assert list(found) == ["architecture.queues.compute-gpu.subnet_ids[0]"]


def test_a_zone_id_beside_zone_names_only_the_account_compares():
    raw = raw_g4dn(network=NEW_VPC, architecture__queues__compute__availability_zone="usw2-az1")
    assert "can only be read from the account" in notes(raw)
    assert "network.availability_zones[2]" in refusals(raw, subnets_known=True)


def test_the_missing_zone_comes_with_those_that_offer_the_type():
    """PR-40."""
    raw = raw_g4dn(
        network={"kind": "new-vpc", "availability_zones": ["use1-az1", "use1-az4"]},
        architecture__queues__compute__compute_resources={
            "trn1": {"instance_type": "trn1.32xlarge", "maximum": 1, "efa_enabled": True}
        },
    )
    found = refusals(raw, region="us-east-1")
    assert found[f"{QUEUE}.availability_zone"].allowed == "one zone: use1-az4"


def test_a_zone_id_that_the_catalog_does_not_list_is_a_note():
    raw = raw_p4de(
        storage={},
        reservations__p4de={
            "kind": "odcr",
            "reservation_id": RESERVATION,
            "availability_zone": "usw2-az4",
        },
    )
    assert "compute-gpu/distributed-ml: p4de.24xlarge was not offered in usw2-az4" in notes(raw)


def test_subnets_of_a_network_that_nobody_read_are_believed():
    network = {"kind": "stack-reference", "stack": "vpc-one-az"}
    raw = raw_g4dn(network=network, architecture__queues__compute__subnet_ids=[PRIVATE_A])
    assert not refusals(raw)
