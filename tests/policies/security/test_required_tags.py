"""Tags that a platform requires."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from trainyard.policies.resources.types import AUTO_SCALING_GROUP, EBS_VOLUME, SECURITY_GROUP
from trainyard.policies.rules.security.required_tags import POLICY


def volume(**props):
    return Declared(EBS_VOLUME, "scratch", {"size": 100, "encrypted": True, **props})


def group(*keys):
    tags = [{"key": key, "value": "x", "propagateAtLaunch": True} for key in keys]
    props = {"vpcZoneIdentifiers": ["subnet-a"], "tags": tags}
    return Declared(AUTO_SCALING_GROUP, "asg", props)


CONFIG = {"tags": ["team", "cost-center"]}
FAULTS = {
    "none": (volume(), "it lacks the tags team, cost-center"),
    "one-missing": (volume(tags={"team": "vision"}), "it lacks the tags cost-center"),
    "group": (group("team"), "it lacks the tags cost-center"),
}
VIOLATING = tuple((declared,) for declared, _ in FAULTS.values())
RIGHT = {
    "both": volume(tags={"team": "vision", "cost-center": "1"}),
    "from-the-provider": volume(tags={"team": "vision"}, tagsAll={"cost-center": "1"}),
    "group": group("team", "cost-center"),
    "costs-nothing": Declared(SECURITY_GROUP, "group", {}),
}
CLEAN = tuple((declared,) for declared in RIGHT.values())


@pytest.mark.parametrize(("declared", "fault"), FAULTS.values(), ids=FAULTS)
def test_fails(declared, fault):
    (message,) = check(POLICY, declared, config=CONFIG).messages
    assert fault in message


@pytest.mark.parametrize("declared", RIGHT.values(), ids=RIGHT)
def test_passes(declared):
    found = check(POLICY, declared, config=CONFIG)
    assert (found.messages, found.undecided) == ([], [])


def test_nothing_is_said_where_no_tags_are_required():
    assert check(POLICY, volume()).messages == []


def test_tags_that_are_not_known_yet_are_said():
    assert "scratch.tags" in check(POLICY, volume(tags=UNKNOWN), config=CONFIG).undecided[0]


def test_the_tags_of_the_provider_are_no_way_out_for_an_auto_scaling_group():
    (volumes,) = check(POLICY, volume(), config=CONFIG).messages
    (groups,) = check(POLICY, group("team"), config=CONFIG).messages
    assert volumes.endswith("or to default_tags of the provider")
    assert groups.endswith("add them to its tags")
