"""Options and account determine the stack file."""

from __future__ import annotations

import pytest

from tests.support.account import (
    ASSISTED,
    BLOCK,
    BLOCK_IN_D,
    EFS,
    LUSTRE,
    ODCR_P4D,
    ODCR_P4DE_IN_GROUP,
    VPC,
    listing,
)
from tests.trainyard.init.support.new_stacks import NETWORKS, cluster, design, missing, text


def groups(**given):
    return cluster(kind="eks", **given)["architecture"]["node_groups"]


def test_each_reservation_gets_its_own_node_group() -> None:
    found = cluster(kind="eks", reservations=(BLOCK, ODCR_P4D))
    assert {name: each["kind"] for name, each in found["reservations"].items()} == {
        "block": "capacity-block",
        "training": "odcr",
    }
    pools = found["architecture"]["node_groups"].values()
    assert [(each["instance_type"], each["purchase_option"]) for each in pools] == [
        ("p5.48xlarge", "block"),
        ("p4d.24xlarge", "training"),
    ]


def test_two_reservations_of_one_kind_have_different_names() -> None:
    found = cluster(kind="eks", reservations=(BLOCK, BLOCK_IN_D))
    assert [*found["reservations"]] == ["block", "block-2"]
    assert [*found["architecture"]["node_groups"]] == ["p5", "p5-2"]


def test_all_free_instances_of_a_reservation_are_used_unless_nodes_are_given() -> None:
    assert groups(reservations=(BLOCK,))["p5"]["desired"] == 2
    sizes = groups(reservations=(BLOCK, ODCR_P4D), nodes=(1, 2))
    assert [each["desired"] for each in sizes.values()] == [1, 2]


def test_subnets_are_chosen_in_the_zone_of_the_reservation_and_as_few_others_as_needed() -> None:
    network = cluster(kind="eks", reservations=(BLOCK_IN_D,))["network"]
    assert network["vpc_id"] == VPC
    assert network["private_subnet_ids"] == ["subnet-0a000000000000002", "subnet-0d000000000000002"]
    network = cluster(kind="slurm", reservations=(BLOCK_IN_D,))["network"]
    assert network["private_subnet_ids"] == ["subnet-0d000000000000002"]
    assert network["public_subnet_ids"] == ["subnet-0d000000000000001"]


def test_a_new_vpc_has_the_zones_of_the_reservations() -> None:
    found = cluster(kind="eks", reservations=(BLOCK_IN_D,), vpc="new")["network"]
    assert found["kind"] == "new-vpc"
    assert found["availability_zones"] == ["us-west-2a", "us-west-2d"]


def test_on_demand_nodes_launch_in_a_zone_that_offers_their_type() -> None:
    zones = {"trn1.32xlarge": frozenset({"usw2-az4"})}
    found = design(
        listing(offered_zone_ids=zones), kind="eks", instance_types=("trn1.32xlarge",), vpc="new"
    )
    assert found.pools[0].zone == "us-west-2d"
    assert found.network.zones is not None
    assert "us-west-2d" in found.network.zones


@pytest.mark.parametrize(
    ("reservation", "provenance", "group"),
    [
        (ODCR_P4D, "own", None),
        (ODCR_P4DE_IN_GROUP, "own", "p4de-reserved"),
        (ASSISTED, "aws-assisted", None),
    ],
)
def test_the_placement_group_of_a_reservation_is_read(reservation, provenance, group) -> None:
    found = cluster(kind="eks", reservations=(reservation,))["reservations"]["training"]
    assert (found["provenance"], found.get("placement_group")) == (provenance, group)


def test_a_slurm_cluster_in_a_capacity_block_has_static_nodes() -> None:
    queues = cluster(kind="slurm", reservations=(BLOCK,))["architecture"]["queues"]
    (queue,) = queues.values()
    (nodes,) = queue["compute_resources"].values()
    assert (nodes["minimum"], nodes["maximum"]) == (2, 2)


def test_a_new_file_system_in_a_new_vpc_ends_with_it() -> None:
    new = cluster(kind="eks", reservations=(BLOCK,), vpc="new", lustre_gib=2400)
    assert new["storage"]["fsx"]["deletion_protection"] is False
    kept = cluster(kind="eks", reservations=(BLOCK,), lustre_gib=2400)
    assert kept["storage"]["fsx"]["storage_capacity_gib"] == 2400
    assert "deletion_protection" not in kept["storage"]["fsx"]


def test_node_groups_in_several_zones_get_a_file_system_in_the_zone_of_the_first() -> None:
    found = cluster(kind="eks", reservations=(BLOCK_IN_D, ODCR_P4D), lustre_gib=2400)
    assert found["storage"]["fsx"]["availability_zone"] == "us-west-2d"


def test_an_existing_file_system_takes_the_place_of_the_one_of_the_example() -> None:
    found = cluster(kind="slurm", reservations=(BLOCK,), file_system=LUSTRE)["storage"]
    assert found["fsx"] == {
        "kind": "existing-fsx-lustre",
        "mount_directory": "/fsx",
        "file_system_id": LUSTRE,
    }
    found = cluster(kind="slurm", reservations=(BLOCK,), file_system=EFS)["storage"]
    assert (found["fsx"]["kind"], found["fsx"]["mount_directory"]) == ("existing-efs", "/efs")


@pytest.mark.parametrize("kind", ["eks", "batch"])
def test_a_key_pair_is_for_every_node_pool(kind: str) -> None:
    assert text(kind=kind, reservations=(BLOCK,), key_pair="sandbox").count("sandbox") == 1


def test_a_key_pair_of_a_slurm_cluster_is_for_the_head_node() -> None:
    found = cluster(kind="slurm", reservations=(BLOCK,), key_pair="sandbox")["architecture"]
    assert found["head_node"]["ssh"] == {"key_name": "sandbox"}


def test_an_example_keeps_its_on_demand_queue_beside_a_reservation() -> None:
    given = {"example": "pc-p4de-g5", "reservations": ("cr-00d00000000000004",)}
    queues = cluster(**given)["architecture"]["queues"]
    assert [each["purchase_option"] for each in queues.values()] == ["training", "on-demand"]


def test_jobs_of_a_smaller_reservation_use_its_nodes() -> None:
    jobs = cluster(kind="batch", reservations=(BLOCK,), nodes=(1,))["architecture"]
    assert jobs["job_definitions"]["nccl-tests"]["nodes"] == 1


def test_the_only_usable_vpc_needs_no_option() -> None:
    given = {"kind": "eks", "reservations": (BLOCK,), "api_networks": NETWORKS}
    assert missing(listing(), **given) == []


def test_nobody_but_the_user_knows_the_networks_of_the_kubernetes_api() -> None:
    assert missing(listing(), kind="eks", reservations=(BLOCK,)) == ["--api-networks"]
    for kind in ("slurm", "batch"):
        assert missing(listing(), kind=kind, reservations=(BLOCK,)) == []
    assert missing(listing(), kind="network") == []


def test_everything_that_is_missing_is_listed_at_once() -> None:
    assert missing(listing()) == ["--kind", "--reservation", "--api-networks"]
    assert missing(None, region="") == ["--kind", "--instance-type", "--api-networks"]
    assert missing(listing(), example="p5-cb") == ["--reservation", "--api-networks"]


def test_a_vpc_has_to_be_chosen_among_several() -> None:
    vpcs = {**listing().vpcs, "vpc-00000000000000009": listing().vpcs[VPC]}
    more = {f"{name[:-1]}f": each for name, each in listing().subnets.items()}
    from dataclasses import replace

    subnets = {
        **listing().subnets,
        **{
            name: replace(each, subnet_id=name, vpc_id="vpc-00000000000000009")
            for name, each in more.items()
        },
    }
    account = listing(vpcs=vpcs, subnets=subnets)
    given = {"kind": "eks", "reservations": (BLOCK,), "api_networks": NETWORKS}
    assert missing(account, **given) == ["--vpc"]
