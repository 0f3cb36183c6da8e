"""EFA interfaces that training nodes have and do not use (A2)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import EFA_NETWORK, node_group, template
from tests.support.policy_programs_eks import (
    TOGETHER,
    asg,
    environment,
    on_demand,
    on_demand_nodes,
    placed,
    plain,
    queue,
    scaled,
)
from trainyard.policies.rules.efa.efa_left_unused import POLICY

WITHOUT_EFA = template("networkInterfaces")
IN_A_GROUP = {"PlacementGroup": {"Enabled": True}}
VIOLATING = (
    (placed(plain()), TOGETHER, asg()),
    (WITHOUT_EFA, scaled(node_group(), 2)),
    (placed(plain()), TOGETHER, environment()),
    (queue(networking=IN_A_GROUP, Efa={"Enabled": False}),),
)
CLEAN = (
    (placed(on_demand()), TOGETHER, asg(), *EFA_NETWORK),
    (template(), scaled(node_group(), 2), *EFA_NETWORK),
    (queue(networking=IN_A_GROUP, Efa={"Enabled": True}),),
    (plain(), on_demand_nodes()),
)


@pytest.mark.parametrize("program", VIOLATING)
def test_says_what_is_lost(program):
    (message,) = check(POLICY, *program).messages
    assert "places several p5.48xlarge together without an EFA interface" in message
    assert "add the 32 EFA interfaces of the type" in message


def test_a_type_with_two_interfaces_counts():
    (message,) = check(
        POLICY, placed(plain(instanceType="c6in.32xlarge")), TOGETHER, asg()
    ).messages
    assert "add the 2 EFA interfaces of the type" in message


@pytest.mark.parametrize("program", CLEAN)
def test_passes(program):
    assert check(POLICY, *program).messages == []


@pytest.mark.parametrize(
    "program",
    [
        pytest.param((placed(plain()), TOGETHER, asg(1)), id="one-node"),
        pytest.param(
            (placed(plain(instanceType="g5.48xlarge")), TOGETHER, asg()), id="one-efa-interface"
        ),
        pytest.param(
            (placed(plain(instanceType="m5.large")), TOGETHER, asg()), id="type-without-efa"
        ),
        pytest.param((plain(), asg()), id="nodes-that-serve-on-their-own"),
        pytest.param((plain(instanceType=UNKNOWN), asg()), id="type-not-known-yet"),
        pytest.param((placed(plain()), TOGETHER, environment(maxVcpus=383)), id="batch-one-node"),
        pytest.param((queue(Efa={"Enabled": False}),), id="slurm-without-a-group"),
        pytest.param((queue(networking=IN_A_GROUP, MaxCount=1),), id="slurm-one-node"),
    ],
)
def test_nodes_that_do_not_train_together_are_left_alone(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


@pytest.mark.parametrize(
    "interfaces", [[{"deviceIndex": 0, "interfaceType": UNKNOWN}], UNKNOWN], ids=["type", "all"]
)
def test_interfaces_that_are_not_known_yet_may_be_efa(interfaces):
    made = placed(on_demand(networkInterfaces=interfaces))
    found = check(POLICY, made, TOGETHER, asg(), *EFA_NETWORK)
    assert found.messages == []
    assert "p5-template.networkInterfaces" in found.undecided[0]
