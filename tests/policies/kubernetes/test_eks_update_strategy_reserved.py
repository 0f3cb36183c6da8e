"""The update strategy of a node group on reserved capacity (G11)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import EFA_NETWORK, OWN_ID, in_odcr, node_group, template
from trainyard.policies.rules.kubernetes.eks_update_strategy_reserved import POLICY

ODCR = (in_odcr(OWN_ID), *EFA_NETWORK)
BLOCK = (template(), *EFA_NETWORK)
MINIMAL = {"maxUnavailablePercentage": 100, "updateStrategy": "MINIMAL"}
DEFAULT = {"maxUnavailable": 1, "updateStrategy": "DEFAULT"}


def on_demand(**changes):
    return node_group(capacityType="ON_DEMAND", **changes)


FAULTS = {
    "block": (*BLOCK, node_group()),
    "block-default": (*BLOCK, node_group(updateConfig=DEFAULT)),
    "reservation": (*ODCR, on_demand(updateConfig={"maxUnavailable": 1})),
}
VIOLATING = tuple(FAULTS.values())
RIGHT = {
    "block": (*BLOCK, node_group(updateConfig=MINIMAL)),
    "reservation": (*ODCR, on_demand(updateConfig=MINIMAL)),
}
CLEAN = tuple(RIGHT.values())


@pytest.mark.parametrize("program", FAULTS.values(), ids=FAULTS)
def test_fails(program):
    (message,) = check(POLICY, *program).messages
    assert message.startswith("p5-nodes: it launches into reserved capacity")


@pytest.mark.parametrize("program", RIGHT.values(), ids=RIGHT)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_capacity_that_is_not_reserved_is_updated_as_anybody_likes():
    free = template("instanceMarketOptions", "capacityReservationSpecification")
    assert check(POLICY, free, *EFA_NETWORK, on_demand(updateConfig=DEFAULT)).messages == []


def test_a_reservation_that_is_not_known_yet_is_one():
    target = {"capacityReservationTarget": {"capacityReservationId": UNKNOWN}}
    made = template("instanceMarketOptions", capacityReservationSpecification=target)
    depends = {**made.depends, "capacityReservationSpecification": ["efa"]}
    later = Declared(made.type, made.name, made.props, depends)
    assert check(POLICY, later, *EFA_NETWORK, on_demand()).messages
