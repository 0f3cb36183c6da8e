"""The head node, from the stack file to the plan."""

from __future__ import annotations

from typing import Any

import pytest

from tests.parallelcluster.test_queue_context import context
from tests.support.parallelcluster import raw_g4dn, raw_p4de
from tests.support.stack_files import (
    PRIVATE_A,
    PRIVATE_B,
    PUBLIC_A,
    PUBLIC_B,
    plan_from,
)
from trainyard.components.parallelcluster.head_node_plan import (
    candidate_subnets,
    head_node_zone,
    is_public,
    plan_head_node,
)
from trainyard.components.parallelcluster.plan import HeadNodePlan

NEW_VPC = {"kind": "new-vpc", "availability_zones": ["us-west-2a", "us-west-2b"]}
UNPROTECTED = {"storage__fsx__deletion_protection": False}


def head(raw: dict[str, Any]) -> HeadNodePlan:
    return plan_from(raw).head_node


@pytest.mark.parametrize(
    ("changes", "subnets", "public"),
    [
        ({}, (PUBLIC_A,), True),
        ({"network": "private"}, (PRIVATE_A,), False),
        ({"subnet_id": PUBLIC_B}, (PUBLIC_B,), True),
        ({"subnet_id": PRIVATE_B}, (PRIVATE_B,), False),
        ({"availability_zone": "us-west-2b"}, (PUBLIC_A, PUBLIC_B), True),
    ],
    ids=["default", "private", "subnet", "private subnet", "zone of an existing VPC"],
)
def test_the_head_node_stands_where_the_stack_file_says(
    changes: dict[str, Any], subnets: tuple[str, ...], *, public: bool
):
    """PC-04."""
    raw = raw_g4dn(**{f"architecture__head_node__{key}": value for key, value in changes.items()})
    assert (head(raw).subnets, head(raw).public) == (subnets, public)


def test_in_a_new_vpc_the_head_node_stands_in_the_zone_of_the_first_queue_that_has_one():
    """PR-41: the head node is in the public subnet of the nodes' zone."""
    assert head(raw_p4de(network=NEW_VPC, **UNPROTECTED)).subnets == ("public-us-west-2b",)
    assert head(raw_g4dn(network=NEW_VPC)).subnets == ("public-us-west-2a",)


def test_its_own_zone_comes_first():
    raw = raw_p4de(
        network=NEW_VPC, architecture__head_node__availability_zone="us-west-2a", **UNPROTECTED
    )
    assert head(raw).subnets == ("public-us-west-2a",)


def test_a_queue_in_one_subnet_leaves_the_zone_of_the_head_node_to_the_account():
    raw = raw_g4dn(architecture__queues__compute__subnet_ids=[PRIVATE_B])
    assert head(raw).subnets == (PUBLIC_A, PUBLIC_B)


def test_policies_become_arns():
    """PC-07."""
    (arn,) = head(raw_g4dn()).access.iam_policies
    assert arn == "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"


def test_what_the_stack_file_leaves_open_follows_from_its_parts():
    found = context(availability_zone="us-west-2a")
    node = found.config.architecture.head_node
    assert head_node_zone(found) == "us-west-2a"
    assert is_public(node, found)
    assert [subnet.name for subnet in candidate_subnets(node, found)] == [PUBLIC_A, PUBLIC_B]
    assert plan_head_node(found).key_name == "sandbox"
