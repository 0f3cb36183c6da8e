"""Image and instance types of one architecture (E4)."""

from __future__ import annotations

import pytest

from tests.support.policy import check
from tests.support.policy_programs_eks import eks_template, role, workers
from trainyard.policies.rules.kubernetes.eks_image_architecture import POLICY

ROLE = role("node-role")


def group(*instance_types, image):
    return ROLE, eks_template(), workers(instanceTypes=list(instance_types), amiType=image)


FAULTS = {
    "arm-on-intel": group("c5.2xlarge", image="AL2023_ARM_64_STANDARD"),
    "arm-on-gpus": group("g5.8xlarge", image="AL2023_ARM_64_NVIDIA"),
    "bottlerocket": group("m5.large", image="BOTTLEROCKET_ARM_64"),
}
VIOLATING = tuple(FAULTS.values())
RIGHT = {
    "intel": group("c5.2xlarge", image="AL2023_x86_64_STANDARD"),
    "not-in-the-catalog": group("m7g.large", image="AL2023_ARM_64_STANDARD"),
    "custom": group("c5.2xlarge", image="CUSTOM"),
}
CLEAN = tuple(RIGHT.values())


@pytest.mark.parametrize("program", FAULTS.values(), ids=FAULTS)
def test_fails(program):
    (message,) = check(POLICY, *program).messages
    assert "whose architecture is x86_64" in message


@pytest.mark.parametrize("program", RIGHT.values(), ids=RIGHT)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])
