"""The role of the containers of a job."""

import json

import pulumi

from components.batch.job_role import JobRole, JobRoleArgs

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
