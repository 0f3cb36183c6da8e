"""Minimum, desired and maximum of a group of nodes (E9)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs_eks import workers
from trainyard.policies.resources.types import AUTO_SCALING_GROUP, AUTO_SCALING_SCHEDULE
from trainyard.policies.rules.instance.group_sizes_in_order import POLICY


def group(**sizes):
    return Declared(AUTO_SCALING_GROUP, "asg", {"vpcZoneIdentifiers": ["subnet-a"], **sizes})


def schedule(**sizes):
    return Declared(AUTO_SCALING_SCHEDULE, "down", {"autoscalingGroupName": "asg", **sizes})


def managed(minimum, desired, maximum):
    return workers(scalingConfig={"minSize": minimum, "desiredSize": desired, "maxSize": maximum})


FAULTS = {
    "desired-above-maximum": (
        group(minSize=0, desiredCapacity=4, maxSize=2),
        "desiredCapacity is 4 and its maxSize 2",
    ),
    "minimum-above-maximum": (group(minSize=4, maxSize=2), "minSize is 4 and its maxSize 2"),
    "managed": (managed(2, 1, 2), "minSize is 2 and its desiredSize 1"),
    "managed-that-holds-nothing": (managed(0, 0, 0), "its maxSize is 0"),
    "schedule": (
        schedule(minSize=0, desiredCapacity=2, maxSize=0),
        "desiredCapacity is 2 and its maxSize 0",
    ),
}
VIOLATING = tuple((declared,) for declared, _ in FAULTS.values())
RIGHT = {
    "in-order": group(minSize=0, desiredCapacity=2, maxSize=2),
    "nothing-yet": group(minSize=0, desiredCapacity=0, maxSize=0),
    "managed-nothing-yet": managed(0, 0, 1),
    "bounds-only": group(minSize=1, maxSize=2),
    "schedule-of-one-size": schedule(minSize=-1, desiredCapacity=0, maxSize=-1),
}
CLEAN = tuple((declared,) for declared in RIGHT.values())


@pytest.mark.parametrize(("declared", "fault"), FAULTS.values(), ids=FAULTS)
def test_fails(declared, fault):
    (message,) = check(POLICY, declared).messages
    assert fault in message


@pytest.mark.parametrize("declared", RIGHT.values(), ids=RIGHT)
def test_passes(declared):
    found = check(POLICY, declared)
    assert (found.messages, found.undecided) == ([], [])


def test_a_size_that_is_not_known_yet_is_said_beside_what_is_wrong():
    found = check(POLICY, group(minSize=3, desiredCapacity=UNKNOWN, maxSize=2))
    assert "minSize is 3 and its maxSize 2" in found.messages[0]
    assert "asg.desiredCapacity" in found.undecided[0]
