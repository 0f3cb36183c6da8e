"""Market type, reservation and instance type stand together (D1, D2, D4, EKN-11)."""

from __future__ import annotations

import pytest

from policies.resource_types import INSTANCE
from policies.rules.capacity.capacity_block_triple import POLICY
from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import template

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


def test_both_faults_are_reported_at_once():
    program = template("instanceType", "capacityReservationSpecification")
    assert len(check(POLICY, program).messages) == 2


def test_fails_for_an_instance_without_a_launch_template():
    assert len(check(POLICY, Declared(INSTANCE, "node", MARKET)).messages) == 2


GROUP = {"capacityReservationTarget": {"capacityReservationResourceGroupArn": UNKNOWN}}


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(template(), id="all-three"),
        pytest.param(template(capacityReservationSpecification=GROUP), id="group-made-here"),
        pytest.param(template(instanceType=UNKNOWN), id="type-known-later"),
        pytest.param(template("instanceMarketOptions", "instanceType"), id="on-demand"),
        pytest.param(
            Declared(INSTANCE, "node", {**MARKET, "launchTemplate": {"id": UNKNOWN}}),
            id="instance-from-a-template",
        ),
    ],
)
def test_passes(program):
    found = check(POLICY, program)
    assert (found.messages, found.undecided) == ([], [])


def test_a_market_that_is_not_known_yet_is_said():
    found = check(POLICY, template("instanceType", instanceMarketOptions=UNKNOWN))
    assert found.messages == []
    assert len(found.undecided) == 1
