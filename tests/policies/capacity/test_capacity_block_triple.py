"""Market type, reservation and instance type go together (D1, D2, D4, EKN-11)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import (
    BLOCK_ID,
    EFA_NETWORK,
    auto_scaling_group,
    node_group,
    template,
)
from trainyard.policies.resources.types import INSTANCE
from trainyard.policies.rules.capacity.capacity_block_triple import POLICY

VIOLATING = ((template("capacityReservationSpecification"), *EFA_NETWORK),)
CLEAN = ((template(), *EFA_NETWORK),)

MARKET = {"instanceMarketOptions": {"marketType": "capacity-block"}}


def test_fails_without_a_reservation():
    (message,) = check(POLICY, template("capacityReservationSpecification")).messages
    assert "targets no reservation" in message
    assert message.endswith(
        "set the capacity reservation target to the cr- id of the Capacity Block"
    )


def test_fails_without_an_instance_type():
    (message,) = check(POLICY, template("instanceType")).messages
    assert "names no instance type" in message


def both_faults(messages):
    """Assert that one message names the missing reservation and the missing type."""
    (message,) = messages
    reservation, instance_type = message.split("; also: ")
    assert "targets no reservation" in reservation
    assert "names no instance type" in instance_type


def test_both_faults_are_reported_at_once():
    program = template("instanceType", "capacityReservationSpecification")
    both_faults(check(POLICY, program).messages)


def test_fails_for_an_instance_without_a_launch_template():
    both_faults(check(POLICY, Declared(INSTANCE, "node", MARKET)).messages)


GROUP = {"capacityReservationTarget": {"capacityReservationResourceGroupArn": UNKNOWN}}


def later(name, value: object = UNKNOWN, *without):
    """Return the template with one value that depends on another resource."""
    made = template(*without, **{name: value})
    return Declared(made.type, made.name, made.props, {**made.depends, name: ["efa"]})


OF_THE_GROUP = auto_scaling_group(
    capacityReservationSpecification={
        "capacityReservationTarget": {"capacityReservationIds": [BLOCK_ID]}
    },
    mixedInstancesPolicy={"launchTemplate": {"overrides": [{"instanceType": "p5.48xlarge"}]}},
)


def test_an_auto_scaling_group_may_say_it_in_the_place_of_its_template():
    """https://docs.aws.amazon.com/autoscaling/ec2/userguide/target-capacity-reservations.html"""
    made = template("capacityReservationSpecification", "instanceType")
    assert check(POLICY, made, OF_THE_GROUP).messages == []
    both_faults(check(POLICY, made, auto_scaling_group()).messages)


def test_the_type_of_a_managed_node_group_stands_in_its_template():
    group = node_group(instanceTypes=["p5.48xlarge"])
    (message,) = check(POLICY, template("instanceType"), group).messages
    assert "names no instance type" in message


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(template(), id="all-three"),
        pytest.param(later("capacityReservationSpecification", GROUP), id="group-made-here"),
        pytest.param(later("instanceType"), id="type-known-later"),
        pytest.param(template("instanceMarketOptions", "instanceType"), id="on-demand"),
        pytest.param(
            Declared(INSTANCE, "node", {**MARKET, "launchTemplate": {"id": UNKNOWN}}),
            id="instance-from-a-template",
        ),
    ],
)
def test_passes(program):
    found = check(POLICY, program, *EFA_NETWORK)
    assert (found.messages, found.undecided) == ([], [])


def test_a_market_that_is_not_known_yet_is_said():
    found = check(POLICY, later("instanceMarketOptions", UNKNOWN, "instanceType"), *EFA_NETWORK)
    assert found.messages == []
    assert len(found.undecided) == 1
