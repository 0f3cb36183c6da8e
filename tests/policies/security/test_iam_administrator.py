"""Roles with administrator access."""

from __future__ import annotations

import json

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import (
    BUCKET,
    allow,
    document,
    role_policy,
)
from trainyard.policies.resources.types import (
    IAM_POLICY,
    IAM_POLICY_ATTACHMENT,
    IAM_ROLE,
    IAM_ROLE_POLICY_ATTACHMENT,
)
from trainyard.policies.rules.security.iam_administrator import POLICY

ADMINISTRATOR = "arn:aws:iam::aws:policy/AdministratorAccess"
WORKER = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
TRUST = document({"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": "*"})


def attachment(arn, type_=IAM_ROLE_POLICY_ATTACHMENT):
    return Declared(type_, "attached", {"policyArn": arn})


def role(**more):
    return Declared(IAM_ROLE, "role", {"assumeRolePolicy": TRUST, **more})


FAULTS = {
    "attached": attachment(ADMINISTRATOR),
    "attached-in-china": attachment("arn:aws-cn:iam::aws:policy/AdministratorAccess"),
    "attached-to-many": attachment(ADMINISTRATOR, IAM_POLICY_ATTACHMENT),
    "in-the-role": role(managedPolicyArns=[WORKER, ADMINISTRATOR]),
    "inline": role_policy(allow("*")),
    "inline-in-the-role": role(inlinePolicies=[{"name": "all", "policy": document(allow(["*"]))}]),
    "all-services": role_policy(allow(["*:*"], ["*"])),
    "one-statement": Declared(
        IAM_POLICY, "policy", {"policy": json.dumps({"Statement": allow("*")})}
    ),
}
VIOLATING = tuple((declared,) for declared in FAULTS.values())
RIGHT = {
    "worker": attachment(WORKER),
    "trust-is-no-permission": role(),
    "named-actions": role_policy(allow(["s3:GetObject"], BUCKET)),
    "denied": role_policy({"Effect": "Deny", "Action": "*", "Resource": "*"}),
    "everything-on-one-bucket": role_policy(allow("*", BUCKET)),
    "under-a-condition": role_policy(allow("*", Condition={"Bool": {"aws:Foo": "true"}})),
}
CLEAN = tuple((declared,) for declared in RIGHT.values())


@pytest.mark.parametrize("declared", FAULTS.values(), ids=FAULTS)
def test_fails(declared):
    (message,) = check(POLICY, declared).messages
    assert "control of the account" in message


@pytest.mark.parametrize("declared", RIGHT.values(), ids=RIGHT)
def test_passes(declared):
    found = check(POLICY, declared)
    assert (found.messages, found.undecided) == ([], [])


def test_the_arn_of_a_new_policy_is_not_that_of_the_administrator():
    found = check(POLICY, attachment(UNKNOWN))
    assert (found.messages, found.undecided) == ([], [])


def test_a_policy_that_is_not_known_yet_is_said():
    unknown = Declared(IAM_POLICY, "policy", {"policy": UNKNOWN})
    assert "policy.policy" in check(POLICY, unknown).undecided[0]
