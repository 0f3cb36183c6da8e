"""A placement group in addition to the reservation of a launch template (B7 to B10)."""

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
    template,
)
from tests.support.policy_programs_eks import environment, on_demand
from trainyard.policies.resources.types import INSTANCE, LAUNCH_TEMPLATE
from trainyard.policies.rules.placement.overriding_placement_group import POLICY

VIOLATING = (
    (template(), environment(placementGroup="mine"), *EFA_NETWORK),
    (in_odcr(ASSISTED_ID), environment(placementGroup="mine"), *EFA_NETWORK),
)
CLEAN = (
    (in_odcr(OWN_ID), environment(placementGroup=OWN_GROUP), *EFA_NETWORK),
    (template(), environment(), *EFA_NETWORK),
)
CONFIG = {"own_reservations": {OWN_ID: OWN_GROUP}}


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        (VIOLATING[0], "launches into a Capacity Block and into a placement group"),
        (VIOLATING[1], f"it targets '{ASSISTED_ID}' and also launches into 'mine'"),
    ],
)
def test_fails(program, fault):
    (message,) = check(POLICY, *program, config=CONFIG).messages
    assert message.startswith("batch-p5: together with its launch template p5-template, it ")
    assert fault in message


@pytest.mark.parametrize("group", [{"placementGroup": "mine"}, {"placementGroupId": "pg-1"}])
def test_fails_for_an_instance(group):
    by_name = Declared(LAUNCH_TEMPLATE, "p5", {**template().props, "name": "p5-nodes"})
    node = Declared(INSTANCE, "node", {"launchTemplate": {"name": "p5-nodes"}, **group})
    assert check(POLICY, by_name, node).messages


@pytest.mark.parametrize(
    "program",
    [
        *CLEAN,
        (on_demand(), environment(placementGroup="mine"), *EFA_NETWORK),
        (environment(placementGroup="mine"),),
        (odcr(), into(), environment(placementGroup=UNKNOWN)),
    ],
    ids=["own", "no-group", "on-demand", "template-made-elsewhere", "made-here"],
)
def test_passes(program):
    found = check(POLICY, *program, config=CONFIG)
    assert (found.messages, found.undecided) == ([], [])
