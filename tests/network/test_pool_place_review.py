"""Problems of the zone and the subnet of a pool, for Batch and EKS."""

from __future__ import annotations

from typing import Any

import pytest

from tests.network.test_pool_place import GROUP, IN_A_ZONE, NEW, ODCR, place
from tests.support.eks import NOW, P5_CB, STACK_FILE
from tests.support.network_stack import new_network
from tests.support.parallelcluster import EXISTING_VPC
from tests.support.pools import NETWORK
from tests.support.stack_files import PRIVATE_A, PRIVATE_B, PUBLIC_A
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.network import PlacedNetwork, StackNetwork, unread_network
from trainyard.components.config.problems import Review
from trainyard.components.network.pool_place import (
    PlanContext,
    review_launch_zones,
    review_pool_subnet,
    review_pool_zone,
)

KEY = "trainyard:cluster.architecture.compute_environments.g4dn"
UNREAD = unread_network(StackNetwork(kind="stack-reference", stack="vpc-one-az"))


def reviewed(*, zones_known: bool = False, **settings: Any) -> Review:
    review = Review(stack_file="Pulumi.batch-test.yaml")
    found = place(**settings)
    context = PlanContext(
        config=load_stack_config(P5_CB, stack_file=STACK_FILE),
        network=found.network,
        region="us-west-2",
        now=NOW,
        subnets_known=zones_known,
    )
    review_launch_zones([found], context, review)
    return review


@pytest.mark.parametrize(
    ("network", "subnet", "refused"),
    [
        (EXISTING_VPC, PRIVATE_B, False),
        (EXISTING_VPC, PUBLIC_A, True),
        (EXISTING_VPC, "subnet-00000000000000000", True),
        (new_network(), PRIVATE_B, True),
        (UNREAD, PRIVATE_B, False),
    ],
)
def test_a_subnet_is_one_of_the_private_ones(network: PlacedNetwork, subnet: str, refused: bool):
    review = Review(stack_file="Pulumi.batch-test.yaml")
    review_pool_subnet(place(subnet_id=subnet), network, review)
    assert [each.path for each in review.problems] == [f"{KEY}.subnet_id"] * refused


@pytest.mark.parametrize(
    ("settings", "paths"),
    [
        ({"availability_zone": "us-west-2b"}, []),
        ({"availability_zone": "eu-west-1b"}, [f"{KEY}.availability_zone"]),
        (
            {"reservation": IN_A_ZONE, "availability_zone": "us-west-2a"},
            [f"{KEY}.availability_zone"],
        ),
        ({"availability_zone": "us-west-2a", "subnet_id": PRIVATE_A}, [f"{KEY}.subnet_id"]),
    ],
)
def test_a_zone_is_that_of_region_reservation_and_subnet(
    settings: dict[str, Any], paths: list[str]
):
    review = Review(stack_file="Pulumi.batch-test.yaml")
    review_pool_zone(place(**settings), "us-west-2", review, what="this compute environment")
    assert [each.path for each in review.problems] == paths


@pytest.mark.parametrize(
    "settings",
    [
        {"reservation": ODCR},
        {"availability_zone": "us-west-2b"},
    ],
)
def test_which_subnet_of_an_existing_vpc_lies_in_the_zone_the_account_says(
    settings: dict[str, Any],
):
    offline, asked = reviewed(**settings), reviewed(**settings, zones_known=True)
    assert not offline.problems
    assert "can only be read from the account" in offline.notes[0]
    assert [each.path for each in asked.problems] == [f"{KEY}.subnet_id"]


@pytest.mark.parametrize("zones_known", [False, True])
@pytest.mark.parametrize("network", [NETWORK, NEW])
def test_a_pool_without_a_zone_is_left_alone(network: Any, zones_known: bool):
    """With EFA, `review_missing_zone` refuses it."""
    found = reviewed(network=network, zones_known=zones_known)
    assert not found.problems
    assert not found.notes


@pytest.mark.parametrize("settings", [{}, {"reservation": GROUP}, {"subnet_id": PRIVATE_A}])
def test_what_may_launch_anywhere_or_where_it_was_told_is_left_alone(settings: dict[str, Any]):
    found = reviewed(network=NETWORK, zones_known=True, **settings)
    assert not found.problems
    assert not found.notes


def test_a_zone_without_a_subnet_is_added_to_a_new_vpc():
    review = reviewed(network=NEW, availability_zone="us-west-2c")
    assert review.problems[0].path == "trainyard:cluster.network.availability_zones[2]"
    assert "g4dn must launch in us-west-2c" in review.problems[0].problem


def test_zones_by_name_and_by_id_are_compared_by_the_account_only():
    offline = reviewed(network=NEW, availability_zone="usw2-az2")
    assert not offline.problems
    assert "us-west-2a, us-west-2b" in offline.notes[0]
    assert reviewed(network=NEW, availability_zone="usw2-az2", zones_known=True).problems
