"""A Capacity Block cannot be used with a placement group (B7)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import EFA_NETWORK, in_odcr, template
from trainyard.policies.resources.types import INSTANCE
from trainyard.policies.rules.capacity.capacity_block_no_placement_group import POLICY

VIOLATING = ((template(placement={"groupName": UNKNOWN}), *EFA_NETWORK),)
CLEAN = ((template(), *EFA_NETWORK),)


@pytest.mark.parametrize(
    ("placement", "named"),
    [
        pytest.param({"groupName": "mine"}, "'mine'", id="by-name"),
        pytest.param({"groupId": "pg-1"}, "'pg-1'", id="by-id"),
        pytest.param({"groupName": UNKNOWN}, "that this program creates", id="made-here"),
    ],
)
def test_fails_with_a_placement_group(placement, named):
    (message,) = check(POLICY, template(placement=placement)).messages
    assert named in message
    assert message.endswith("remove the placement group")


def test_fails_for_an_instance():
    market = {"marketType": "capacity-block"}
    props = {"placementGroup": "mine", "instanceMarketOptions": market}
    assert check(POLICY, Declared(INSTANCE, "node", props)).messages


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(template(), id="block-without-group"),
        pytest.param(template(placement={"availabilityZone": "us-west-2b"}), id="zone-only"),
        pytest.param(in_odcr("cr-1", placement={"groupName": "mine"}), id="odcr"),
    ],
)
def test_passes(program):
    found = check(POLICY, program)
    assert (found.messages, found.undecided) == ([], [])


def test_a_market_that_is_not_known_yet_is_said():
    program = template(
        instanceMarketOptions={"marketType": UNKNOWN}, placement={"groupName": "mine"}
    )
    found = check(POLICY, program)
    assert found.messages == []
    (undecided,) = found.undecided
    assert "p5-template.instanceMarketOptions.marketType" in undecided
