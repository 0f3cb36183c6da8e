"""The roles of a job: that of its containers, and that with which ECS reads its secrets."""

import json

import pulumi
import pytest
from moto.iam.access_control import IAMPolicy, PermissionResult

from trainyard.components.batch.job_definition import (
    ExecutionRole,
    ExecutionRoleArgs,
    JobRole,
    JobRoleArgs,
)

S3 = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"


def deployed(deploy, *policies):
    args = JobRoleArgs(policy_arns=policies, region="us-west-2", tags={"team": "vision"})
    return deploy(lambda: pulumi.export("arn", JobRole("batch-nccl", args).arn))


def test_only_tasks_of_this_account_and_region_take_the_role(deploy):
    """BAT-12: least privilege, and protection against the confused deputy problem of ECS."""
    role = deployed(deploy).one("batch-nccl-role")
    (statement,) = json.loads(role.inputs["assumeRolePolicy"])["Statement"]
    assert statement["Principal"] == {"Service": "ecs-tasks.amazonaws.com"}
    assert statement["Condition"] == {
        "StringEquals": {"aws:SourceAccount": "123456789012"},
        "ArnLike": {"aws:SourceArn": "arn:aws:ecs:us-west-2:123456789012:*"},
    }


def test_a_job_may_do_nothing_unless_it_is_asked_for(deploy):
    assert not deployed(deploy).of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")


def test_policies_are_attached_before_the_role_is_used(deploy):
    cloud = deployed(deploy, S3, S3)
    attached = cloud.one("batch-nccl-AmazonS3ReadOnlyAccess")
    assert attached.inputs["policyArn"] == S3
    assert cloud.exports["arn"].endswith(":role/batch-nccl-role")
    assert {made.urn for made in cloud.components()} <= set(cloud.closed)


SECRET = "arn:aws:secretsmanager:us-west-2:123456789012:secret:team/hf-AbCdEf"
PARAMETER = "arn:aws:ssm:us-east-1:210987654321:parameter/team/wandb"


def execution_role(deploy, *secrets):
    args = ExecutionRoleArgs(secrets=secrets, region="us-west-2", tags={"team": "vision"})
    return deploy(lambda: pulumi.export("arn", ExecutionRole("batch-nccl", args).arn))


def secrets_policy(cloud):
    return json.loads(cloud.one("batch-nccl-secrets").inputs["policy"])["Statement"]


@pytest.mark.parametrize(
    ("action", "resource", "permitted"),
    [
        ("secretsmanager:GetSecretValue", SECRET, True),
        ("secretsmanager:GetSecretValue", SECRET[:-1], False),
        ("secretsmanager:GetSecretValue", SECRET.replace("hf-", "hf2-"), False),
        ("secretsmanager:PutSecretValue", SECRET, False),
        ("ssm:GetParameters", PARAMETER, True),
        ("ssm:GetParameters", f"{PARAMETER}/more", False),
        ("ssm:GetParametersByPath", PARAMETER, False),
    ],
)
def test_ecs_may_read_the_secrets_of_the_job_and_nothing_else(deploy, action, resource, permitted):
    cloud = execution_role(deploy, f"{SECRET}:token::", SECRET, PARAMETER)
    policy = IAMPolicy(cloud.one("batch-nccl-secrets").inputs["policy"])
    found = policy.is_action_permitted(action, resource)
    assert (found == PermissionResult.PERMITTED) is permitted


def test_a_key_of_the_user_decrypts_these_secrets_only(deploy):
    """The encryption contexts are those of Secrets Manager and Parameter Store."""
    cloud = execution_role(deploy, SECRET, PARAMETER)
    first, second = (each for each in secrets_policy(cloud) if each["Action"] == "kms:Decrypt")
    assert first["Resource"] == ["arn:aws:kms:us-west-2:123456789012:key/*"]
    assert first["Condition"]["StringEquals"] == {
        "kms:ViaService": ["secretsmanager.us-west-2.amazonaws.com"],
        "kms:EncryptionContext:SecretARN": [SECRET],
    }
    assert second["Resource"] == ["arn:aws:kms:us-east-1:210987654321:key/*"]
    assert second["Condition"]["StringEquals"] == {
        "kms:ViaService": ["ssm.us-east-1.amazonaws.com"],
        "kms:EncryptionContext:PARAMETER_ARN": [PARAMETER],
    }


def test_the_execution_role_pulls_images_and_is_for_tasks_only(deploy):
    """With an execution role, the agent uses it for images in ECR as well."""
    cloud = execution_role(deploy, SECRET)
    attached = cloud.one("batch-nccl-AmazonECSTaskExecutionRolePolicy").inputs["policyArn"]
    assert attached == "arn:aws:iam::aws:policy/service-role/AmazonECSTaskExecutionRolePolicy"
    trust = json.loads(cloud.one("batch-nccl-role").inputs["assumeRolePolicy"])
    assert trust["Statement"][0]["Principal"] == {"Service": "ecs-tasks.amazonaws.com"}
    assert cloud.exports["arn"].endswith(":role/batch-nccl-role")
    assert {made.urn for made in cloud.components()} <= set(cloud.closed)
