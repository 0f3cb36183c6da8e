"""The vCPUs of a compute environment (G4)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import compute_environment
from trainyard.policies.rules.batch.compute_environment_vcpus import POLICY

P5 = ["p5.48xlarge"]


def of(**resources):
    return compute_environment(computeResources=resources)


FAULTS = {
    "less-than-one-p5": (of(maxVcpus=96, instanceTypes=P5), "p5.48xlarge, has 192 vCPUs"),
    "less-than-the-smallest": (
        of(maxVcpus=64, instanceTypes=["p5.48xlarge", "p4d.24xlarge"]),
        "p4d.24xlarge, has 96 vCPUs",
    ),
    "minimum-above-maximum": (
        of(minVcpus=384, maxVcpus=192, instanceTypes=P5),
        "min_vcpus is 384 and its max_vcpus 192",
    ),
    "desired-below-minimum": (
        of(minVcpus=192, desiredVcpus=0, maxVcpus=192),
        "min_vcpus is 192 and its desired_vcpus 0",
    ),
}
VIOLATING = tuple((environment,) for environment, _ in FAULTS.values())
RIGHT = {
    "two-nodes": of(minVcpus=0, desiredVcpus=0, maxVcpus=384, instanceTypes=P5),
    "a-family": of(maxVcpus=96, instanceTypes=["p5"]),
    "one-of-them-not-known": of(maxVcpus=2, instanceTypes=["p5.48xlarge", "x9.large"]),
    "no-maximum": of(instanceTypes=P5),
    "fargate": of(type="FARGATE", maxVcpus=16),
    "put-aside": of(minVcpus=0, desiredVcpus=0, maxVcpus=0, instanceTypes=P5),
}
CLEAN = tuple((environment,) for environment in RIGHT.values())


@pytest.mark.parametrize(("environment", "fault"), FAULTS.values(), ids=FAULTS)
def test_fails(environment, fault):
    (message,) = check(POLICY, environment).messages
    assert fault in message


@pytest.mark.parametrize("environment", RIGHT.values(), ids=RIGHT)
def test_passes(environment):
    found = check(POLICY, environment)
    assert (found.messages, found.undecided) == ([], [])


def test_a_maximum_that_is_not_known_yet_is_said():
    found = check(POLICY, of(maxVcpus=UNKNOWN, instanceTypes=P5))
    assert found.messages == []
    assert "computeResources.maxVcpus" in found.undecided[0]
