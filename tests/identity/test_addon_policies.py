"""The add-on policies of nodes: actions and resources."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto.iam.aws_managed_policies import aws_managed_policies_data

from trainyard.components.identity.addon_policies import (
    autoscaler_tags,
    inline_names,
    inline_policies,
    managed_policies,
)

EVERY = ("autoscaler", "cloudwatch", "ebs", "fsx")


def document(policy, partition="aws"):
    return inline_policies((policy,), partition=partition, cluster_name="dev")[policy]


def granting(policy, action):
    return [s for s in document(policy)["Statement"] if action in s["Action"]]


def test_managed_policies_exist_at_aws():
    """EKX-07; moto contains AWS's list."""
    known = json.loads(aws_managed_policies_data)
    assert set(managed_policies(EVERY)) <= known.keys()
    assert all(known[name].get("Path", "/") == "/" for name in managed_policies(EVERY))


def test_the_driver_of_ebs_reaches_only_its_own_volumes():
    """EKX-07 gave every volume of the account."""
    policy = json.loads(aws_managed_policies_data)["AmazonEBSCSIDriverPolicyV2"]["Document"]
    deleting = [s for s in policy["Statement"] if "ec2:DeleteVolume" in s["Action"]]
    assert deleting
    assert all("Condition" in statement for statement in deleting)


@pytest.mark.parametrize(
    "action", ["autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"]
)
def test_the_autoscaler_changes_the_groups_of_its_cluster_only(action):
    """EKX-07 gave every Auto Scaling group of the account."""
    (statement,) = granting("autoscaler", action)
    assert statement["Condition"] == {
        "StringEquals": {
            "aws:ResourceTag/k8s.io/cluster-autoscaler/enabled": "true",
            "aws:ResourceTag/k8s.io/cluster-autoscaler/dev": "owned",
        }
    }


def test_the_autoscaler_reads_what_it_needs():
    (statement,) = granting("autoscaler", "autoscaling:DescribeAutoScalingGroups")
    assert {"autoscaling:DescribeTags", "ec2:DescribeLaunchTemplateVersions"} <= {
        *statement["Action"]
    }
    assert all(":Describe" in a or ":Get" in a for a in statement["Action"])


def test_the_tags_that_the_autoscaler_looks_for_are_those_of_its_policy():
    (statement,) = granting("autoscaler", "autoscaling:SetDesiredCapacity")
    conditions = statement["Condition"]["StringEquals"]
    assert {key.removeprefix("aws:ResourceTag/") for key in conditions} == {*autoscaler_tags("dev")}


def test_fsx_is_granted_by_call_and_its_roles_by_name():
    """EKX-07 had `fsx:*`."""
    actions = {a for s in document("fsx")["Statement"] for a in s["Action"]}
    assert "fsx:CreateFileSystem" in actions
    assert not any(action.endswith("*") for action in actions)
    (attaching,) = granting("fsx", "iam:AttachRolePolicy")
    assert attaching["Resource"].endswith("/s3.data-source.lustre.fsx.amazonaws.com/*")


@pytest.mark.parametrize(
    ("action", "key"),
    [
        ("fsx:CreateFileSystem", "aws:RequestTag/CSIVolumeName"),
        ("fsx:TagResource", "aws:RequestTag/CSIVolumeName"),
        ("fsx:DeleteFileSystem", "aws:ResourceTag/CSIVolumeName"),
        ("fsx:UpdateFileSystem", "aws:ResourceTag/CSIVolumeName"),
    ],
)
def test_the_driver_of_fsx_changes_only_file_systems_that_it_made(action, key):
    """EKX-07 gave every file system of the account."""
    (statement,) = granting("fsx", action)
    assert statement["Condition"] == {"StringLike": {key: "*"}}


@pytest.mark.parametrize("partition", ["aws", "aws-cn", "aws-us-gov", "aws-iso"])
def test_arns_follow_the_partition(partition):
    text = json.dumps([document(policy, partition) for policy in inline_names(EVERY)])
    assert text.count("arn:") == text.count(f"arn:{partition}:") == 1


@given(st.lists(st.sampled_from(EVERY)))
def test_each_policy_is_granted_once_in_one_of_the_two_ways(wanted):
    inline = inline_policies(wanted, partition="aws", cluster_name="dev")
    assert len(inline) + len(set(managed_policies(wanted))) == len(set(wanted))
    assert not {"cloudwatch", "ebs"} & inline.keys()


def test_documents_fit_into_a_role():
    """Inline policies of a role share 10,240 characters.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
    """
    documents = inline_policies(EVERY, partition="aws-us-gov", cluster_name="c" * 100)
    assert sum(len(json.dumps(document)) for document in documents.values()) < 10_240
