"""The subnets of a ParallelCluster's shared storage, and the parts that the stack creates."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.parallelcluster import NEW_NETWORK, RAW
from tests.support.shared_storage import (
    EBS,
    EFS,
    LUSTRE,
    OLD_EBS,
    OLD_EFS,
    OLD_LUSTRE,
    OLD_ZFS,
    ZFS,
    config_with,
    planned,
)
from tests.support.stack_files import PRIVATE_A, PRIVATE_B, PUBLIC_B

BOTH = (PRIVATE_A, PRIVATE_B)
TWO_QUEUES = {
    name: {
        "subnet_ids": [subnet],
        "compute_resources": {"c5": {"instance_type": "c5.2xlarge", "maximum": 2}},
    }
    for name, subnet in (("one", PRIVATE_A), ("two", PRIVATE_B))
}


def test_entries_are_in_the_order_of_their_names():
    found = planned({"fsx": LUSTRE, "apps": EBS, "home": EFS})
    assert [each.name for each in found.storage.entries] == ["apps", "fsx", "home"]
    assert found.storage.open_zfs == ()


def test_new_lustre_and_queues_in_several_subnets_do_not_go_together():
    """PR-62: Lustre is in the nodes' subnet."""
    config = config_with({"fsx": LUSTRE}, RAW)
    for known in (True, False):
        found = planned(config, queue_subnets=BOTH, subnets_known=known)
        problem = found.problems["storage.fsx.kind"]
        assert problem.allowed == "queues in one subnet, or existing-fsx-lustre"
        assert "architecture.queues.compute.availability_zone" in problem.remedy


def test_queues_that_name_different_subnets_are_refused_without_the_account():
    config = config_with({"fsx": LUSTRE}, RAW, architecture__queues=TWO_QUEUES)
    found = planned(config, queue_subnets=BOTH, subnets_known=False)
    assert set(found.problems) == {"storage.fsx.kind"}


def test_a_subnet_that_only_the_account_knows_is_left_to_it():
    found = planned({"fsx": LUSTRE}, queue_subnets=BOTH, subnets_known=False)
    assert found.problems == {}
    assert any("can only be read from the account" in note for note in found.review.notes)
    assert set(planned({"fsx": LUSTRE}, queue_subnets=BOTH).problems) == {"storage.fsx.kind"}


@pytest.mark.parametrize("wanted", [EFS, EBS, OLD_LUSTRE])
def test_what_is_reached_from_every_zone_takes_any_number_of_subnets(wanted):
    assert planned({"data": wanted}, queue_subnets=BOTH).problems == {}


@pytest.mark.parametrize("wanted", [OLD_LUSTRE, OLD_EFS, OLD_ZFS])
def test_what_exists_cannot_lie_in_a_vpc_that_does_not(wanted):
    private = NEW_NETWORK.private_names[:1]
    found = planned({"data": wanted}, network=NEW_NETWORK, queue_subnets=private)
    problem = found.problems["storage.data.kind"]
    new = wanted["kind"].removeprefix("existing-")
    assert problem.allowed == f"{new}, or network.kind: existing-vpc"


def test_a_volume_that_exists_is_bound_to_a_zone_and_to_no_vpc():
    private = NEW_NETWORK.private_names[:1]
    assert planned({"d": OLD_EBS}, network=NEW_NETWORK, queue_subnets=private).problems == {}


@pytest.mark.parametrize("wanted", [LUSTRE, EFS])
def test_what_is_kept_cannot_lie_in_a_vpc_that_goes(wanted):
    """AWS does not delete a subnet that contains a network interface of a file system."""
    place: Any = {"network": NEW_NETWORK, "queue_subnets": NEW_NETWORK.private_names[:1]}
    problem = planned({"data": wanted}, **place).problems["storage.data.deletion_protection"]
    assert "storage.data.deletion_protection' false" in problem.remedy
    assert planned({"data": {**wanted, "deletion_protection": False}}, **place).problems == {}
    assert planned({"data": wanted}).problems == {}


@pytest.mark.parametrize("wanted", [EBS, ZFS])
def test_volumes_bind_no_subnet_and_the_stack_s_own_file_systems_are_left_with_theirs(wanted):
    place: Any = {"network": NEW_NETWORK, "queue_subnets": NEW_NETWORK.private_names[:1]}
    assert planned({"data": wanted}, **place).problems == {}


def test_nodes_in_other_zones_than_a_volume_are_noted():
    head, queues = NEW_NETWORK.public_subnets[0].name, NEW_NETWORK.private_names[1:]
    found = planned({"apps": EBS}, network=NEW_NETWORK, queue_subnets=queues, head_subnets=(head,))
    (note,) = found.review.notes
    assert "us-west-2a with the head node" in note
    assert "us-west-2b" in note


def test_openzfs_lies_with_the_queues_and_lets_the_head_node_in():
    (zfs,) = planned({"zfs": ZFS}).storage.open_zfs
    assert (zfs.subnets, zfs.clients) == ((PRIVATE_B,), (PUBLIC_B, PRIVATE_B))
    assert (zfs.deployment_type, zfs.throughput_capacity_mbps) == ("SINGLE_AZ_HA_2", 160)
    assert zfs.deletion_protection
    assert zfs.tags["trainyard:storage"] == "zfs"
    assert zfs.tags["trainyard:cluster"] == "pc-p4de"


def test_openzfs_of_queues_in_several_subnets_lies_in_the_first():
    found = planned({"zfs": ZFS}, queue_subnets=BOTH)
    assert found.storage.open_zfs[0].subnets == (PRIVATE_A,)
    assert "traffic from nodes in other zones" in found.review.notes[0]
    offline = planned({"zfs": ZFS}, queue_subnets=BOTH, subnets_known=False)
    assert offline.storage.open_zfs[0].subnets == BOTH
    assert "can only be read from the account" in offline.review.notes[0]


def test_openzfs_lies_where_the_stack_file_says():
    wanted = {**ZFS, "subnet_id": PRIVATE_A}
    assert planned({"zfs": wanted}).storage.open_zfs[0].subnets == (PRIVATE_A,)
    zone = planned(
        {"zfs": {**ZFS, "availability_zone": "us-west-2b"}},
        network=NEW_NETWORK,
        queue_subnets=NEW_NETWORK.private_names,
    )
    assert zone.storage.open_zfs[0].subnets == NEW_NETWORK.private_names[1:]
    assert zone.problems == {}


def test_openzfs_in_a_subnet_of_another_network_is_refused():
    wanted = {**ZFS, "subnet_id": "subnet-00000000000000fff"}
    problem = planned({"zfs": wanted}).problems["storage.zfs.subnet_id"]
    assert problem.allowed == f"{PRIVATE_A}, {PRIVATE_B}"
