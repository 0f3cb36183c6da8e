"""What EKS leaves of a cluster that was deleted while nodes used its security group."""

from __future__ import annotations

from tests.support.sandbox_aws import PRIVATE_A, VPC, Account  # before boto3 makes a client

import pytest  # isort: skip

from tests.support.account_fixtures import account, server  # isort: skip
from trainyard.deployment.gone_cluster import delete_what_eks_left  # isort: skip
from trainyard.stack_files.stack_files import find_stack_file  # isort: skip
from trainyard.workspace.accounts import target_of

__all__ = ["account", "server"]

TARGET = target_of(find_stack_file("p5-cb"), sandbox=False)


def left_by(account: Account, cluster: str, number: int) -> str:
    """Create a group as EKS does for a cluster; return its id."""
    tags = [{"Key": f"kubernetes.io/cluster/{cluster}", "Value": "owned"}]
    return account.ec2.create_security_group(
        GroupName=f"eks-cluster-sg-{cluster}-{number}",
        Description="EKS created security group",
        VpcId=VPC,
        TagSpecifications=[{"ResourceType": "security-group", "Tags": tags}],
    )["GroupId"]


def ids(account: Account) -> set[str]:
    return {each["GroupId"] for each in account.ec2.describe_security_groups()["SecurityGroups"]}


def test_only_the_group_of_the_cluster_is_deleted(
    account: Account, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = left_by(account, "p5-cb", 1)
    others = {left_by(account, "p5-cb-managed", 2), left_by(account, "p5", 3)}
    look_alike = account.ec2.create_security_group(
        GroupName="eks-cluster-sg-p5-cb-4", Description="by hand, without the tag", VpcId=VPC
    )["GroupId"]
    assert delete_what_eks_left(TARGET)
    assert ours not in ids(account)
    assert others | {look_alike} <= ids(account)
    assert f"deleted {ours}" in capsys.readouterr().err
    assert not delete_what_eks_left(TARGET)


def test_a_group_that_is_still_used_is_named_with_its_command(
    account: Account, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = left_by(account, "p5-cb", 5)
    account.ec2.run_instances(
        ImageId=account.ec2.describe_images()["Images"][0]["ImageId"],
        InstanceType="c5.2xlarge",
        SubnetId=PRIVATE_A,
        SecurityGroupIds=[ours],
        MinCount=1,
        MaxCount=1,
    )
    assert not delete_what_eks_left(TARGET)
    assert ours in ids(account)
    said = capsys.readouterr().err
    assert "DependencyViolation" in said
    assert f"aws ec2 delete-security-group --region us-west-2 --group-id {ours}" in said
