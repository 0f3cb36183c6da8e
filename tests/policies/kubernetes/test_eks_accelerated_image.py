"""Images with the drivers of accelerators (E5, E6)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs_eks import eks_template, role, workers
from trainyard.policies.rules.kubernetes.eks_accelerated_image import POLICY

STANDARD, NVIDIA, NEURON = (f"AL2023_x86_64_{kind}" for kind in ("STANDARD", "NVIDIA", "NEURON"))
ROLE = role("node-role")


def listed(instance_type, image):
    return ROLE, eks_template(), workers(instanceTypes=[instance_type], amiType=image)


def in_the_template(instance_type, image):
    return ROLE, eks_template(instanceType=instance_type), workers(amiType=image)


FAULTS = {
    "gpu": (listed("g5.8xlarge", STANDARD), "set ami_type to AL2023_x86_64_NVIDIA"),
    "gpu-in-the-template": (in_the_template("g5.8xlarge", STANDARD), "launches g5.8xlarge"),
    "gpu-with-neuron": (listed("g5.8xlarge", NEURON), "set ami_type to AL2023_x86_64_NVIDIA"),
    "neuron": (listed("trn1.32xlarge", NVIDIA), "set ami_type to AL2023_x86_64_NEURON"),
}
VIOLATING = tuple(program for program, _ in FAULTS.values())
RIGHT = {
    "gpu": listed("g5.8xlarge", NVIDIA),
    "gpu-bottlerocket": listed("g5.8xlarge", "BOTTLEROCKET_x86_64_NVIDIA"),
    "neuron": listed("trn1.2xlarge", NEURON),
    "neuron-bottlerocket": listed("trn1.2xlarge", "BOTTLEROCKET_x86_64"),
    "no-accelerators": listed("c5.2xlarge", STANDARD),
    "custom": listed("g5.8xlarge", "CUSTOM"),
    "silence": (ROLE, eks_template(instanceType="g5.8xlarge"), workers()),
    "not-known-yet": listed("g5.8xlarge", UNKNOWN),
}
CLEAN = tuple(RIGHT.values())


@pytest.mark.parametrize(("program", "fault"), FAULTS.values(), ids=FAULTS)
def test_fails(program, fault):
    (message,) = check(POLICY, *program).messages
    assert fault in message


@pytest.mark.parametrize("program", RIGHT.values(), ids=RIGHT)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])
