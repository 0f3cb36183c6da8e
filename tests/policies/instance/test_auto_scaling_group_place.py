"""Subnets or zones of an Auto Scaling group (E13)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from trainyard.policies.resources.types import AUTO_SCALING_GROUP
from trainyard.policies.rules.instance.auto_scaling_group_place import POLICY


def group(**place):
    return Declared(AUTO_SCALING_GROUP, "asg", {"minSize": 0, "maxSize": 2, **place})


SUBNETS, ZONES = ["subnet-a"], ["us-west-2a"]
VIOLATING = ((group(vpcZoneIdentifiers=SUBNETS, availabilityZones=ZONES),),)
RIGHT = {
    "subnets": group(vpcZoneIdentifiers=SUBNETS),
    "zones": group(availabilityZones=ZONES),
    "empty": group(vpcZoneIdentifiers=SUBNETS, availabilityZones=[]),
}
CLEAN = tuple((declared,) for declared in RIGHT.values())


def test_fails():
    (message,) = check(POLICY, *VIOLATING[0]).messages
    assert "remove availability_zones" in message


@pytest.mark.parametrize("declared", RIGHT.values(), ids=RIGHT)
def test_passes(declared):
    found = check(POLICY, declared)
    assert (found.messages, found.undecided) == ([], [])


def test_subnets_that_are_not_known_yet_are_said():
    found = check(POLICY, group(vpcZoneIdentifiers=UNKNOWN, availabilityZones=ZONES))
    assert found.messages == []
    assert "asg.vpcZoneIdentifiers" in found.undecided[0]
