"""Placement group and reservation that only the Auto Scaling group combines (B7, B9, B10)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import (
    ASSISTED_ID,
    EFA_NETWORK,
    OWN_GROUP,
    OWN_ID,
    auto_scaling_group,
    in_odcr,
    into,
    odcr,
    template,
)
from trainyard.policies.rules.capacity.auto_scaling_group_placement_group import POLICY

VIOLATING = ((template(), auto_scaling_group(placementGroup="mine"), *EFA_NETWORK),)
CLEAN = ((in_odcr(OWN_ID), auto_scaling_group(placementGroup=OWN_GROUP), *EFA_NETWORK),)
CONFIG = {"own_reservations": {OWN_ID: OWN_GROUP}}

TARGET = {"capacityReservationTarget": {"capacityReservationIds": [ASSISTED_ID]}}
ON_DEMAND = template("instanceMarketOptions", "capacityReservationSpecification")


@pytest.mark.parametrize("group", ["mine", UNKNOWN], ids=["named", "made-by-this-program"])
def test_fails_for_a_group_on_the_auto_scaling_group_of_a_capacity_block(group):
    made = auto_scaling_group(placementGroup=group)
    depends = {**made.depends, "placementGroup": ["p5-template"]}
    program = template(), Declared(made.type, made.name, made.props, depends)
    (message,) = check(POLICY, *program).messages
    assert message.startswith("p5-asg: together with its launch template p5-template, it launches")
    assert message.endswith("remove placement_group")


def test_fails_for_a_group_beside_the_reservation_of_the_template():
    program = in_odcr(ASSISTED_ID), auto_scaling_group(placementGroup="mine")
    (message,) = check(POLICY, *program, config=CONFIG).messages
    assert ASSISTED_ID in message


def test_fails_for_a_reservation_beside_the_group_of_the_template():
    placed = template(
        "instanceMarketOptions",
        "capacityReservationSpecification",
        placement={"groupName": "mine"},
    )
    group = auto_scaling_group(capacityReservationSpecification=TARGET)
    (message,) = check(POLICY, placed, group).messages
    assert ASSISTED_ID in message
    assert "'mine'" in message


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(
            [in_odcr(OWN_ID), auto_scaling_group(placementGroup=OWN_GROUP)], id="own-group"
        ),
        pytest.param([ON_DEMAND, auto_scaling_group(placementGroup="mine")], id="on-demand"),
        pytest.param(
            [ON_DEMAND, auto_scaling_group(capacityReservationSpecification=TARGET)],
            id="reservation-without-group",
        ),
        pytest.param(
            [in_odcr(ASSISTED_ID, placement={"groupName": "mine"}), auto_scaling_group()],
            id="all-in-the-template-has-its-own-rule",
        ),
        pytest.param([auto_scaling_group(placementGroup="mine")], id="template-made-elsewhere"),
    ],
)
def test_passes(program):
    found = check(POLICY, *program, config=CONFIG)
    assert (found.messages, found.undecided) == ([], [])


def test_a_reservation_that_the_program_makes_is_judged_by_other_rules():
    program = odcr(), into(), auto_scaling_group(placementGroup="mine")
    assert check(POLICY, *program, config=CONFIG).messages == []
