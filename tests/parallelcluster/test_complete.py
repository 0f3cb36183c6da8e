"""PC-06, PC-14: queues and head node find their subnets, without an id in the stack file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.account import (
    account,
    configured,
    odcr,
    prepared,
    subnet,
)
from tests.support.parallelcluster import RAW_P4DE, raw_g4dn
from tests.support.stack_files import (
    PRIVATE_A,
    PRIVATE_B,
    PUBLIC_A,
    PUBLIC_B,
    RESERVATION,
    raw_config,
)
from trainyard.components.architectures.prepare import complete
from trainyard.components.network.facts import ZoneFacts
from trainyard.components.storage.checks import complete_storage

ZONES = (
    ZoneFacts(name="us-west-2a", zone_id="usw2-az2", kind="availability-zone"),
    ZoneFacts(name="us-west-2b", zone_id="usw2-az1", kind="availability-zone"),
)
NEW_VPC = {"kind": "new-vpc", "availability_zones": ["us-west-2a", "usw2-az1"]}


def completed(raw, facts):
    return complete(configured(raw), facts).architecture


def p4de(**changes):
    return raw_config(RAW_P4DE, reservations__p4de__availability_zone=..., **changes)


def test_a_queue_launches_in_the_subnet_of_its_reservations_zone():
    queue = completed(p4de(), account()).queues["compute-gpu"]
    assert (queue.subnet_ids, queue.availability_zone) == ((PRIVATE_B,), None)


def test_the_head_node_stands_beside_the_first_queue_that_has_a_zone():
    assert completed(p4de(), account()).head_node.subnet_id == PUBLIC_B


def test_a_private_head_node_takes_a_private_subnet():
    raw = p4de(architecture__head_node__network="private")
    assert completed(raw, account()).head_node.subnet_id == PRIVATE_B


def test_a_head_node_whose_queues_have_no_zone_takes_the_first_subnet():
    assert completed(raw_g4dn(), account()).head_node.subnet_id == PUBLIC_A


def test_a_head_node_without_a_public_subnet_there_stands_in_another_zone():
    """It works, and traffic between zones is better than no cluster."""
    raw = p4de(network__public_subnet_ids=[PUBLIC_A])
    assert completed(raw, account()).head_node.subnet_id == PUBLIC_A


def test_a_zone_that_is_asked_for_and_has_no_public_subnet_is_left_to_the_plan():
    raw = p4de(
        network__public_subnet_ids=[PUBLIC_A],
        architecture__head_node__availability_zone="us-west-2b",
    )
    assert completed(raw, account()).head_node.subnet_id is None


@pytest.mark.parametrize("key", ["subnet_ids", "head_node"])
def test_what_the_stack_file_says_stays(key):
    raw = p4de(architecture__head_node__subnet_id=PUBLIC_A)
    raw["architecture"]["queues"]["compute-gpu"]["subnet_ids"] = [PRIVATE_B]
    architecture = completed(raw, account(reservations={}))
    found = {
        "subnet_ids": architecture.queues["compute-gpu"].subnet_ids == (PRIVATE_B,),
        "head_node": architecture.head_node.subnet_id == PUBLIC_A,
    }
    assert found[key]


def test_a_queue_of_any_zone_takes_one_subnet_of_each():
    """EC2 Fleet refuses two subnets of one zone."""
    second = "subnet-0b000000000000012"
    raw = raw_g4dn(network__private_subnet_ids=[PRIVATE_A, PRIVATE_B, second])
    facts = account()
    facts = replace(facts, subnets={**facts.subnets, second: subnet(second)})
    assert completed(raw, facts).queues["compute"].subnet_ids == (PRIVATE_A, PRIVATE_B)


def test_a_queue_of_any_zone_of_a_plain_network_takes_all_of_it():
    assert completed(raw_g4dn(), account()).queues["compute"].subnet_ids == ()


def test_a_zone_of_a_new_vpc_is_spelled_as_the_network_spells_it():
    architecture = completed(p4de(network=NEW_VPC), account(vpc=None, subnets={}, zones=ZONES))
    assert architecture.queues["compute-gpu"].availability_zone == "usw2-az1"
    assert architecture.head_node.availability_zone == "usw2-az1"


def test_the_second_reservation_of_a_queue_fills_in_what_the_first_leaves_open():
    """The zone of a reservation that is not yet visible is unknown."""
    other = "cr-0123456789abcdef1"
    raw = p4de()
    raw["reservations"]["second"] = {"kind": "odcr", "reservation_id": other}
    resources = raw["architecture"]["queues"]["compute-gpu"]["compute_resources"]
    resources["second"] = {**resources["distributed-ml"], "purchase_option": "second"}
    facts = account(reservations={other: odcr(reservation_id=other)})
    assert completed(raw, facts).queues["compute-gpu"].subnet_ids == (PRIVATE_B,)


def test_the_plan_takes_what_was_filled_in():
    plan = prepared(p4de(architecture__custom_ami_id=...), account()).plan
    assert plan.head_node.subnets == (PUBLIC_B,)
    assert [queue.subnets for queue in plan.queues] == [(PRIVATE_B,)]
    assert RESERVATION in {pool.capacity.reservation_id for pool in plan.node_pools}


@pytest.mark.parametrize(
    ("entry", "subnet_id"),
    [
        pytest.param({"kind": "fsx-openzfs"}, PRIVATE_B, id="the-stack-makes-it"),
        pytest.param({"kind": "fsx-lustre"}, None, id="parallelcluster-makes-it"),
    ],
)
def test_only_file_systems_that_the_stack_makes_are_put_into_a_subnet(entry, subnet_id):
    """PC-10: ParallelCluster itself puts Lustre into the subnet of its queues."""
    storage = {
        "mount_directory": "/data",
        "availability_zone": "us-west-2b",
        "per_unit_storage_throughput": 250,
        **entry,
    }
    if entry["kind"] == "fsx-openzfs":
        del storage["per_unit_storage_throughput"]
    config = configured(raw_g4dn(storage={"data": storage}))
    found = complete_storage(config, account(), places_file_systems=False)["data"]
    assert found.subnet_id == subnet_id
