"""Resource-level actions without a resource."""

from __future__ import annotations

import pytest

from tests.support.policy import check
from tests.support.policy_programs import BUCKET, allow, role_policy
from trainyard.policies.rules.security.iam_wildcard_resources import POLICY

MANY = [f"ec2:{name}" for name in ("RunInstances", "StartInstances", "StopInstances", "CreateTags")]
TAGGED = {"StringEquals": {"aws:ResourceTag/team": "vision"}}

FAULTS = {
    "read": (role_policy(allow("s3:GetObject")), "it allows s3:GetObject on every resource"),
    "change": (role_policy(allow(["ec2:TerminateInstances"])), "ec2:TerminateInstances"),
    "in-a-list": (role_policy(allow(["s3:GetObject"], [BUCKET, "*"])), "s3:GetObject"),
    "pattern": (role_policy(allow(["ec2:Describe*", "s3:Get*"])), "it allows s3:Get* on"),
    "in-any-case": (role_policy(allow("S3:getobject")), "S3:getobject"),
    "many": (
        role_policy(allow(MANY)),
        "ec2:RunInstances, ec2:StartInstances, ec2:StopInstances and 1 more actions",
    ),
}
VIOLATING = tuple((declared,) for declared, _ in FAULTS.values())
RIGHT = {
    "named": role_policy(allow("s3:GetObject", BUCKET)),
    "no-resource-possible": role_policy(
        allow(["ecr:GetAuthorizationToken", "cloudwatch:PutMetricData", "s3:ListAllMyBuckets"])
    ),
    "describes": role_policy(allow(["ec2:DescribeInstances", "eks:DescribeNodegroup"])),
    "under-a-condition": role_policy(allow("ec2:TerminateInstances", Condition=TAGGED)),
    "unheard-of": role_policy(allow("newservice:DeleteThing")),
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
