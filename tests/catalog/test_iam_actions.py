"""IAM actions that support resource-level permissions."""

from __future__ import annotations

import pytest

from trainyard.components.catalog.iam_actions import takes_a_resource


@pytest.mark.parametrize(
    "action",
    [
        "s3:GetObject",
        "ec2:RunInstances",
        "iam:PassRole",
        "ecr:BatchGetImage",
        "EC2:CREATETAGS",
        "s3:Get*",
        "s3:*",
    ],
)
def test_actions_on_resources(action):
    assert takes_a_resource(action)


@pytest.mark.parametrize(
    "action",
    [
        "ecr:GetAuthorizationToken",
        "cloudwatch:PutMetricData",
        "ec2:DescribeInstances",
        "s3:ListAllMyBuckets",
        "ec2:Describe*",
        "ecr:GetAuth*",
        "unheard:Of*",
    ],
)
def test_actions_that_take_none_or_that_nobody_knows(action):
    assert not takes_a_resource(action)
