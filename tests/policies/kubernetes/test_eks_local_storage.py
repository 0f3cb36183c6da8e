"""Local disks of accelerated nodes with Amazon Linux 2023 (G9)."""

from __future__ import annotations

import base64

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs_eks import eks_template
from trainyard.policies.rules.kubernetes.eks_local_storage import POLICY

JOINS = """MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: application/node.eks.aws

apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: {name: training}
"""
RAID = JOINS + "  instance: {localStorage: {strategy: RAID0}}\n"
BY_HAND = JOINS + "\n--b\nContent-Type: text/x-shellscript\n\nmkfs.xfs /dev/nvme1n1\n"


def template(script, instance_type="p5.48xlarge"):
    encoded = base64.b64encode(script.encode()).decode()
    return eks_template(instanceType=instance_type, userData=encoded)


VIOLATING = ((template(JOINS),),)
RIGHT = {
    "raid": template(RAID),
    "by-hand": template(BY_HAND),
    "not-accelerated": template(JOINS, "c5.2xlarge"),
    "no-nodeadm": template("#!/bin/bash\necho hello\n"),
    "nothing-said": eks_template(instanceType="p5.48xlarge"),
}
CLEAN = tuple((declared,) for declared in RIGHT.values())


def test_fails():
    (message,) = check(POLICY, *VIOLATING[0]).messages
    assert "set spec.instance.localStorage.strategy to RAID0" in message


@pytest.mark.parametrize("declared", RIGHT.values(), ids=RIGHT)
def test_passes(declared):
    found = check(POLICY, declared)
    assert (found.messages, found.undecided) == ([], [])


def test_user_data_that_is_not_encoded_is_read_too():
    assert check(POLICY, eks_template(instanceType="p5.48xlarge", userData=JOINS)).messages


def test_user_data_that_is_not_known_yet_is_said():
    found = check(POLICY, eks_template(instanceType="p5.48xlarge", userData=UNKNOWN))
    assert found.messages == []
    assert "workers-template.userData" in found.undecided[0]
