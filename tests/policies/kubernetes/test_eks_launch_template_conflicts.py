"""Settings that a managed node group and its launch template may not both have (E11)."""

from __future__ import annotations

import pytest

from tests.support.policy import Declared, check
from tests.support.policy_programs_eks import eks_template, role, workers
from trainyard.policies.rules.kubernetes.eks_launch_template_conflicts import POLICY

ROLE = role("node-role")


def pair(template=None, **group):
    return ROLE, eks_template(**(template or {})), workers(**group)


IMAGE = {"imageId": "ami-0123456789abcdef0"}
FAULTS = {
    "disk-size": (pair(diskSize=100), "a launch template and diskSize"),
    "remote-access": (
        pair(remoteAccess={"ec2SshKey": "key", "sourceSecurityGroupIds": ["sg-1"]}),
        "a launch template and remoteAccess",
    ),
    "types-twice": (
        pair({"instanceType": "g5.8xlarge"}, instanceTypes=["g5.8xlarge"]),
        "instance types in both places",
    ),
    "image-and-kind": (
        pair(IMAGE, amiType="AL2023_x86_64_NVIDIA"),
        "a custom image and amiType",
    ),
    "image-and-release": (
        pair(IMAGE, releaseVersion="1.35.7-20260911", version="1.35"),
        "a custom image and releaseVersion, version",
    ),
    "instance-profile": (pair({"iamInstanceProfile": {"name": "p"}}), "it has an instance profile"),
    "subnet": (
        pair({"networkInterfaces": [{"deviceIndex": 0, "subnetId": "subnet-a"}]}),
        "network interface 0 names a subnet",
    ),
}
VIOLATING = tuple(program for program, _ in FAULTS.values())
RIGHT = {
    "type-in-the-template": pair({"instanceType": "g5.8xlarge"}, amiType="AL2023_x86_64_NVIDIA"),
    "types-in-the-group": pair(instanceTypes=["g5.8xlarge", "g5.16xlarge"]),
    "image": pair(IMAGE),
    "custom": pair(IMAGE, amiType="CUSTOM"),
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


def test_what_eks_tells_of_a_group_that_exists_is_no_fault():
    told = {"amiType": "CUSTOM", "releaseVersion": IMAGE["imageId"], "version": "1.35"}
    arn = "arn:aws:eks:us-west-2:123456789012:nodegroup/training/workers/1"
    assert check(POLICY, *pair(IMAGE, arn=arn, **told)).messages == []


def test_a_group_without_a_template_may_say_all_of_it():
    made = workers(diskSize=100, instanceTypes=["g5.8xlarge"])
    alone = {key: value for key, value in made.props.items() if key != "launchTemplate"}
    assert check(POLICY, Declared(made.type, made.name, alone)).messages == []
