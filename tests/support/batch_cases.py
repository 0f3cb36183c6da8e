"""The cases of `aws_cases` for Batch and ECR."""

from __future__ import annotations

import json
from typing import Any

from tests.support.aws_cases import TAGS, Case
from tests.support.sandbox_aws import ACCOUNT, PRIVATE_B, Account

ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"
QUEUE = "aws:batch/jobQueue:JobQueue"
DEFINITION = "aws:batch/jobDefinition:JobDefinition"
REPOSITORY = "aws:ecr/repository:Repository"
LIFECYCLE = "aws:ecr/lifecyclePolicy:LifecyclePolicy"
PROFILE = f"arn:aws:iam::{ACCOUNT}:instance-profile/batch"
CONTAINER: dict[str, Any] = {
    "image": "public.ecr.aws/hpc-cloud/nccl-tests:1",
    "command": ["true"],
    "resourceRequirements": [
        {"type": "VCPU", "value": "2"},
        {"type": "MEMORY", "value": "1024"},
    ],
    "environment": [],
}
NODES: dict[str, Any] = {
    "numNodes": 2,
    "mainNode": 0,
    "nodeRangeProperties": [{"targetNodes": "0:", "container": CONTAINER}],
}


def resources(account: Account, **settings: Any) -> dict[str, Any]:
    """Return the compute resources of an environment; creates its role and its security group."""
    account.role("batch")
    return {
        "type": "EC2",
        "allocationStrategy": "BEST_FIT_PROGRESSIVE",
        "minVcpus": 0,
        "maxVcpus": 16,
        "instanceTypes": ["c5.2xlarge"],
        "subnets": [PRIVATE_B],
        "securityGroupIds": [account.group("batch")],
        "instanceRole": PROFILE,
        **settings,
    }


def rule(days: int) -> str:
    """Return a life-cycle policy."""
    selection = {
        "tagStatus": "untagged",
        "countType": "sinceImagePushed",
        "countUnit": "days",
        "countNumber": days,
    }
    expire = {"rulePriority": 1, "selection": selection, "action": {"type": "expire"}}
    return json.dumps({"rules": [expire]})


def batch_cases(account: Account) -> list[Case]:
    """Return a case for every type; their prerequisites are in the account."""
    account.client("ecr").create_repository(repositoryName="made")
    return [*_of_batch(account), *_of_ecr()]


def _of_batch(account: Account) -> list[Case]:
    computing = resources(account)
    made = account.client("batch").create_compute_environment(
        computeEnvironmentName="made",
        type="MANAGED",
        computeResources={
            "type": "EC2",
            "maxvCpus": 8,
            "instanceTypes": ["c5.2xlarge"],
            "subnets": computing["subnets"],
            "securityGroupIds": computing["securityGroupIds"],
            "instanceRole": PROFILE,
        },
    )
    order = [{"order": 1, "computeEnvironment": made["computeEnvironmentArn"]}]
    return [
        Case(
            ENVIRONMENT,
            {
                "type": "MANAGED",
                "computeResources": computing,
                "updatePolicy": {"jobExecutionTimeoutMinutes": 60, "terminateJobsOnUpdate": False},
            },
            {**TAGS, "state": "DISABLED"},
            {"name": "other"},
            follows=frozenset({"computeResources"}),
        ),
        Case(
            QUEUE,
            {"priority": 1, "state": "ENABLED", "computeEnvironmentOrders": order},
            {**TAGS, "priority": 2},
            {"name": "other"},
            has_identity=True,
        ),
        Case(
            DEFINITION,
            {
                "type": "multinode",
                "nodeProperties": json.dumps(NODES),
                "retryStrategy": {"attempts": 2},
                "timeout": {"attemptDurationSeconds": 3600},
            },
            {**TAGS, "timeout": {"attemptDurationSeconds": 60}},
            {"name": "other"},
            follows=frozenset({"arn", "revision"}),
        ),
    ]


def _of_ecr() -> list[Case]:
    reading = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "read",
                "Effect": "Allow",
                "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
                "Action": ["ecr:BatchGetImage"],
            }
        ],
    }
    writing = json.loads(json.dumps(reading).replace("BatchGetImage", "PutImage"))
    return [
        Case(
            REPOSITORY,
            {
                "imageScanningConfiguration": {"scanOnPush": True},
                "imageTagMutability": "IMMUTABLE",
                "encryptionConfigurations": [{"encryptionType": "AES256"}],
            },
            {**TAGS, "imageTagMutability": "MUTABLE"},
            {"encryptionConfigurations": [{"encryptionType": "KMS"}]},
        ),
        Case(LIFECYCLE, {"repository": "made", "policy": rule(14)}, None, {"policy": rule(7)}),
        Case(
            "aws:ecr/repositoryPolicy:RepositoryPolicy",
            {"repository": "made", "policy": json.dumps(reading)},
            {"policy": json.dumps(writing)},
            {"repository": "other"},
        ),
    ]
