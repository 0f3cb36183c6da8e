"""Pain 1 of the field: a placement group with an AWS-assisted reservation (B9, B10)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import (
    ASSISTED_ID,
    EFA_NETWORK,
    OWN_GROUP,
    OWN_ID,
    in_odcr,
    into,
    odcr,
    reservation,
    template,
)
from trainyard.policies.resources.types import INSTANCE, PLACEMENT_GROUP, RESOURCE_GROUP
from trainyard.policies.rules.capacity.odcr_aws_assisted_no_placement_group import POLICY

VIOLATING = ((in_odcr(ASSISTED_ID, placement={"groupName": "mine"}), *EFA_NETWORK),)
CLEAN = ((in_odcr(OWN_ID, placement={"groupName": OWN_GROUP}), *EFA_NETWORK),)
CONFIG = {"own_reservations": {OWN_ID: OWN_GROUP}}

GROUP = Declared(PLACEMENT_GROUP, "together", {"strategy": "cluster"})
MADE_HERE = {"placement": ["together"], "capacityReservationSpecification": ["pool"]}


def with_group(made):
    """Return the program with the placement group and the reservation group that it creates."""
    depends = {**made.depends, **MADE_HERE}
    pool = Declared(RESOURCE_GROUP, "pool", {})
    return Declared(made.type, made.name, made.props, depends), GROUP, pool


GROUP_ARN = "arn:aws:resource-groups:us-west-2:123456789012:group/training"


def test_fails_for_a_reservation_that_is_declared_as_aws_assisted():
    program = in_odcr(ASSISTED_ID, placement={"groupName": "mine"})
    (message,) = check(POLICY, program, config={"assisted_reservations": [ASSISTED_ID]}).messages
    assert "which AWS created in another placement group" in message
    assert "'mine'" in message
    assert message.endswith("remove the placement group")


@pytest.mark.parametrize("config", [{}, CONFIG], ids=["no-config", "others-declared"])
@pytest.mark.parametrize(
    "placement",
    [{"groupName": "mine"}, {"groupName": UNKNOWN}, {"groupId": "pg-0123456789abcdef0"}],
    ids=["by-name", "made-by-this-program", "by-id"],
)
def test_fails_for_a_reservation_of_which_nothing_is_known(placement, config):
    program = with_group(in_odcr(ASSISTED_ID, placement=placement))
    (message,) = check(POLICY, *program, config=config).messages
    assert ASSISTED_ID in message
    assert "own_reservations" in message


@pytest.mark.parametrize("arn", [GROUP_ARN, UNKNOWN], ids=["known", "made-by-this-program"])
def test_a_group_of_reservations_is_judged_by_the_placement_group_of_its_members(arn):
    """The ARN of a group of the program cannot be declared, but its members' group can."""
    target = {"capacityReservationResourceGroupArn": arn}
    specification = {"capacityReservationTarget": target}

    def program(group):
        props = in_odcr(OWN_ID, placement={"groupName": group}).props
        props = {**props, "capacityReservationSpecification": specification}
        return with_group(template("instanceMarketOptions", **props))

    assert check(POLICY, *program(OWN_GROUP), config=CONFIG).messages == []
    for other in ("mine", UNKNOWN):
        assert check(POLICY, *program(other), config=CONFIG).messages


def test_fails_for_an_own_reservation_in_another_group_than_its_own():
    (message,) = check(
        POLICY, in_odcr(OWN_ID, placement={"groupName": "mine"}), config=CONFIG
    ).messages
    assert f"was created in {OWN_GROUP!r}" in message
    assert message.endswith(f"use {OWN_GROUP!r}, or remove the placement group")


def test_fails_for_an_instance_as_for_a_template():
    props = {
        "placementGroup": "mine",
        "capacityReservationSpecification": reservation(ASSISTED_ID),
        "instanceType": "p5.48xlarge",
    }
    assert check(POLICY, Declared(INSTANCE, "node", props)).messages


@pytest.mark.parametrize(
    ("program", "config"),
    [
        pytest.param([in_odcr(ASSISTED_ID)], {}, id="no-placement-group"),
        pytest.param([in_odcr(ASSISTED_ID, placement={"tenancy": "default"})], {}, id="no-name"),
        pytest.param([in_odcr(OWN_ID, placement={"groupName": OWN_GROUP})], CONFIG, id="own-group"),
        pytest.param(
            with_group(in_odcr(OWN_ID, placement={"groupName": UNKNOWN})),
            {"own_reservations": {OWN_ID: ""}},
            id="own-outside-of-a-group",
        ),
        pytest.param(
            [
                template(
                    "instanceMarketOptions",
                    "capacityReservationSpecification",
                    placement={"groupName": "mine"},
                )
            ],
            {},
            id="on-demand",
        ),
        pytest.param([template(placement={"groupName": "mine"})], {}, id="block-has-its-own-rule"),
        pytest.param(
            [odcr(), into(placement={"groupName": "mine"})], {}, id="made-by-this-program"
        ),
        pytest.param(
            [odcr(id=OWN_ID), in_odcr(OWN_ID, placement={"groupName": "mine"})],
            {},
            id="and-its-id-known",
        ),
    ],
)
def test_passes(program, config):
    found = check(POLICY, *program, config=config)
    assert (found.messages, found.undecided) == ([], [])
