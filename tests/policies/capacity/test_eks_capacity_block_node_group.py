"""Node group and launch template agree on the Capacity Block (D3)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import EFA_NETWORK, node_group, subnet_ids, subnets, template
from trainyard.policies.resources.types import EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.policies.rules.capacity.eks_capacity_block_node_group import POLICY

VIOLATING = ((template(), node_group(capacityType="ON_DEMAND"), *EFA_NETWORK),)
CLEAN = ((template(), node_group(), *EFA_NETWORK),)


def test_fails_for_another_capacity_type_than_the_template_is_for():
    (message,) = check(POLICY, template(), node_group("capacityType")).messages
    assert message.startswith("p5-nodes: its launch template p5-template is for a Capacity Block")
    assert message.endswith("set capacity_type to CAPACITY_BLOCK")


def test_fails_for_a_template_of_another_market():
    (message,) = check(POLICY, template("instanceMarketOptions"), node_group()).messages
    assert message.endswith("set market_type of the template to capacity-block")


def test_fails_without_a_launch_template():
    (message,) = check(POLICY, node_group("launchTemplate")).messages
    assert "has no launch template" in message


def test_fails_for_instance_types_beside_the_block():
    (message,) = check(POLICY, template(), node_group(instanceTypes=["p5.48xlarge"])).messages
    assert "remove instance_types" in message


def test_one_unknown_does_not_hide_the_faults_of_other_groups():
    props, depends = {"capacityType": UNKNOWN}, {"capacityType": ["p5-template"]}
    unknown = Declared(node_group().type, "later", props, depends)
    found = check(POLICY, unknown, template(), node_group("capacityType"))
    assert len(found.messages) == 1
    (undecided,) = found.undecided
    assert "later.capacityType" in undecided


LATER = Declared(
    LAUNCH_TEMPLATE,
    "p5-template",
    {**template().props, "instanceMarketOptions": UNKNOWN},
    {"instanceMarketOptions": ["p5-nodes"]},
)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param([template(), node_group()], id="agreed"),
        pytest.param(
            [
                Declared(LAUNCH_TEMPLATE, "by-id", {**template().props, "id": "lt-1"}),
                node_group(launchTemplate={"id": "lt-1"}),
            ],
            id="found-by-its-id",
        ),
        pytest.param([node_group(launchTemplate={"id": "lt-elsewhere"})], id="made-elsewhere"),
        pytest.param(
            [template("instanceMarketOptions"), node_group(capacityType="ON_DEMAND")],
            id="on-demand",
        ),
        pytest.param(
            [LATER, node_group()],
            id="known-later",
        ),
        pytest.param([Declared(EKS_NODE_GROUP, "n", {"capacityType": UNKNOWN})], id="left-to-eks"),
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


@pytest.mark.parametrize(("zones", "faults"), [(("b", "c"), 1), (("b", "b"), 0)])
def test_fails_for_subnets_of_several_zones(zones, faults):
    """A block is in one zone, and launches in other zones fail at random."""
    group = node_group(subnetIds=subnet_ids(2))
    found = check(POLICY, template(), group, *subnets(*(f"us-west-2{zone}" for zone in zones)))
    assert len(found.messages) == faults
    assert all("its subnets are in us-west-2b, us-west-2c" in said for said in found.messages)
