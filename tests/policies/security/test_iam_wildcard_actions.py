"""Policies that allow whole services."""

from __future__ import annotations

import pytest

from tests.support.policy import check
from tests.support.policy_programs import BUCKET, allow, role_policy
from trainyard.policies.rules.security.iam_wildcard_actions import POLICY

FAULTS = {
    "service": (role_policy(allow(["s3:*", "s3:GetObject"], BUCKET)), "it allows s3:*, which"),
    "text": (role_policy(allow("fsx:*", BUCKET)), "it allows fsx:*"),
    "everything-on-one-bucket": (role_policy(allow("*", BUCKET)), "it allows *, which"),
    "all-but": (
        role_policy({"Effect": "Allow", "NotAction": ["iam:*"], "Resource": "*"}),
        "all actions except iam:*",
    ),
}
VIOLATING = tuple((declared,) for declared, _ in FAULTS.values())
RIGHT = {
    "named": role_policy(allow(["s3:GetObject", "s3:PutObject"], BUCKET)),
    "prefix": role_policy(allow(["ec2:Describe*", "s3:Get*"], BUCKET)),
    "denied": role_policy({"Effect": "Deny", "Action": "s3:*", "Resource": BUCKET}),
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


def test_an_administrator_is_left_to_the_rule_that_refuses_it():
    assert check(POLICY, role_policy(allow("*"))).messages == []
