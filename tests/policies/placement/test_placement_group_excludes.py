"""Launches that cannot use a placement group (B15)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs_eks import plain
from trainyard.policies.resources.types import INSTANCE
from trainyard.policies.rules.placement.placement_group_excludes import POLICY

GROUP = {"groupName": "mine"}


def spot(behaviour, **placement):
    options = {"instanceInterruptionBehavior": behaviour} if behaviour else {}
    market = {"marketType": "spot", "spotOptions": options}
    made = plain(placement=placement)
    props = {**made.props, "instanceMarketOptions": market}
    return Declared(made.type, made.name, props, made.depends)


VIOLATING = (
    (plain(placement={**GROUP, "tenancy": "host"}),),
    (spot("hibernate", **GROUP),),
)
CLEAN = (
    (plain(placement={**GROUP, "tenancy": "default"}),),
    (spot("terminate", **GROUP),),
)


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        (VIOLATING[0], "on a Dedicated Host and into a placement group"),
        (VIOLATING[1], "Spot Instances that hibernate into a placement group"),
        ((plain(placement={**GROUP, "hostId": UNKNOWN}),), "on a Dedicated Host"),
        ((spot("stop", groupId="pg-0123456789abcdef0"),), "Spot Instances that stop"),
    ],
    ids=["tenancy", "hibernate", "host", "stop"],
)
def test_fails(program, fault):
    (message,) = check(POLICY, *program).messages
    assert fault in message


def test_fails_for_an_instance():
    node = Declared(INSTANCE, "node", {"placementGroup": "mine", "tenancy": "host"})
    assert check(POLICY, node).messages


@pytest.mark.parametrize(
    "program",
    [*CLEAN, (plain(placement={"tenancy": "host"}),), (spot("stop"),), (spot(None, **GROUP),)],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_a_behaviour_that_is_not_known_yet_is_said():
    found = check(POLICY, spot(UNKNOWN, **GROUP))
    assert found.messages == []
    assert len(found.undecided) == 1
