"""The role of Batch's nodes."""

import json

import pulumi

from trainyard.components.batch.compute_environment import BatchInstanceRole, BatchInstanceRoleArgs

S3 = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"
ECS = "arn:aws:iam::aws:policy/service-role/AmazonEC2ContainerServiceforEC2Role"
SSM = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"


def deployed(deploy, *policies):
    args = BatchInstanceRoleArgs(
        extra_policy_arns=policies, region="us-west-2", tags={"team": "vision"}
    )

    def program():
        pulumi.export("profile", BatchInstanceRole("batch-p4d", args).profile_arn)

    return deploy(program)


def policies(cloud):
    made = cloud.of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    return {each.inputs["policyArn"] for each in made}


def test_ec2_takes_the_role(deploy):
    """BAT-12."""
    document = json.loads(deployed(deploy).one("batch-p4d-role").inputs["assumeRolePolicy"])
    (statement,) = document["Statement"]
    assert statement["Principal"] == {"Service": "ec2.amazonaws.com"}


def test_nodes_may_do_what_ecs_needs_and_what_is_asked_for(deploy):
    """BAT-12: and users reach the nodes without SSH."""
    assert policies(deployed(deploy)) == {ECS, SSM}
    assert policies(deployed(deploy, S3)) == {ECS, SSM, S3}


def test_a_policy_that_is_asked_for_twice_is_attached_once(deploy):
    assert policies(deployed(deploy, S3, S3, SSM)) == {ECS, SSM, S3}


def test_the_profile_waits_for_every_policy(deploy):
    """A node that starts without its policies never joins."""
    cloud = deployed(deploy, S3)
    waits = cloud.one("batch-p4d-instance-profile").dependencies
    attached = cloud.of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    assert {each.urn for each in attached} <= waits
    assert cloud.exports["profile"].endswith("instance-profile/batch-p4d-instance-profile")
    assert {made.urn for made in cloud.components()} <= set(cloud.closed)
