"""Types that cannot be in a cluster placement group (B4)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs_eks import (
    TOGETHER,
    asg,
    environment,
    mixed,
    placed,
    plain,
    queue,
)
from trainyard.policies.resources.types import INSTANCE, PLACEMENT_GROUP
from trainyard.policies.rules.placement.placement_group_instance_type import POLICY

PLACED = {"PlacementGroup": {"Enabled": True}}
SPREAD = Declared(PLACEMENT_GROUP, "together", {"strategy": "spread"})
VIOLATING = (
    (placed(plain(instanceType="t3.large")), TOGETHER),
    (placed(plain("instanceType")), TOGETHER, mixed("m5.large", "t3.large")),
    (queue(networking=PLACED, InstanceType="t3.large"),),
)
CLEAN = (
    (placed(plain(instanceType="m5.large")), TOGETHER, asg()),
    (queue(networking=PLACED, InstanceType="m5.large"),),
)


@pytest.mark.parametrize("program", VIOLATING, ids=["template", "mixed-instances", "slurm"])
def test_fails(program):
    (message,) = check(POLICY, *program).messages
    assert "it launches t3.large into a cluster placement group" in message


def in_batch(**changes):
    made = environment(placementGroup=UNKNOWN, **changes)
    depends = {"computeResources": ["p5-template", "together"]}
    return Declared(made.type, made.name, made.props, depends)


def test_fails_for_a_group_that_stands_in_the_compute_environment():
    program = plain("instanceType"), in_batch(instanceTypes=["t3.large"]), TOGETHER
    (message,) = check(POLICY, *program).messages
    assert message.startswith("batch-p5: it launches t3.large")


def test_fails_for_an_instance_in_a_group_by_its_id():
    named = Declared(
        PLACEMENT_GROUP, "together", {"strategy": "cluster", "placementGroupId": "pg-1"}
    )
    node = Declared(INSTANCE, "node", {"instanceType": "t3.micro", "placementGroupId": "pg-1"})
    assert check(POLICY, named, node).messages


@pytest.mark.parametrize(
    "program",
    [
        *CLEAN,
        (placed(plain(instanceType="t3.large")), SPREAD),
        (plain(instanceType="t3.large", placement={"groupName": "made-elsewhere"}), TOGETHER),
        (placed(plain(instanceType="p99.48xlarge")), TOGETHER),
        (queue(InstanceType="t3.large"),),
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_a_type_that_is_not_known_yet_is_said():
    made = placed(plain(instanceType=UNKNOWN))
    depends = {**made.depends, "instanceType": ["together"]}
    found = check(POLICY, Declared(made.type, made.name, made.props, depends), TOGETHER)
    assert found.messages == []
    assert "p5-template.instanceType" in found.undecided[0]
