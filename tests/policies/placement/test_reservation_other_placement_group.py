"""A reservation of the program in another placement group than its launches (B8)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import EFA_NETWORK, OWN_ID, into, odcr, pool, reservation
from tests.support.policy_programs_eks import TOGETHER, placed
from trainyard.policies.resources.types import INSTANCE, PLACEMENT_GROUP
from trainyard.policies.rules.placement.reservation_other_placement_group import POLICY

ELSEWHERE = Declared(PLACEMENT_GROUP, "reserved", {"strategy": "cluster"})
ARN = "arn:aws:ec2:us-west-2:123456789012:placement-group/reserved"


def made_in(group, name="odcr"):
    """Return a reservation in a placement group of the program."""
    made = odcr(name, placementGroupArn=UNKNOWN)
    return Declared(made.type, made.name, made.props, {"placementGroupArn": [group]})


VIOLATING = (
    (placed(into()), TOGETHER, ELSEWHERE, made_in("reserved"), *EFA_NETWORK),
    (into(placement={"groupName": "mine"}), odcr(placementGroupArn=ARN), *EFA_NETWORK),
)
CLEAN = (
    (placed(into()), TOGETHER, made_in("together"), *EFA_NETWORK),
    (into(placement={"groupName": "reserved"}), odcr(placementGroupArn=ARN), *EFA_NETWORK),
    (into(), ELSEWHERE, made_in("reserved"), *EFA_NETWORK),
)


@pytest.mark.parametrize(("program", "group"), [(VIOLATING[0], "together"), (VIOLATING[1], "mine")])
def test_fails(program, group):
    (message,) = check(POLICY, *program).messages
    assert f"it launches into {group}, and the reservation that it targets, odcr" in message
    assert message.endswith("use reserved, or remove the placement group")


def test_fails_for_an_instance_once_all_is_known():
    props = {"placementGroup": "mine", "capacityReservationSpecification": reservation(OWN_ID)}
    program = Declared(INSTANCE, "node", props), odcr(id=OWN_ID, placementGroupArn=ARN)
    assert check(POLICY, *program).messages


def test_one_member_of_a_group_of_reservations_in_the_same_place_is_enough():
    launch = placed(into("pool", "first", "second"))
    members = made_in("reserved", "first"), made_in("together", "second")
    program = launch, TOGETHER, ELSEWHERE, *members, *pool("first", "second")
    assert check(POLICY, *program, *EFA_NETWORK).messages == []


@pytest.mark.parametrize("program", CLEAN)
def test_passes(program):
    assert check(POLICY, *program).messages == []


@pytest.mark.parametrize(
    "program",
    [
        pytest.param((placed(into()), TOGETHER, odcr()), id="reservation-outside"),
        pytest.param((placed(into()), TOGETHER), id="reservation-made-elsewhere"),
        pytest.param(
            (into(placement={"groupName": UNKNOWN}), odcr(placementGroupArn=ARN)), id="not-known"
        ),
        pytest.param(
            (into(placement={"groupId": "pg-0123456789abcdef0"}), odcr(placementGroupArn=ARN)),
            id="an-id-does-not-tell-the-name",
        ),
    ],
)
def test_what_is_not_told_is_not_judged(program):
    assert check(POLICY, *program, *EFA_NETWORK).messages == []
