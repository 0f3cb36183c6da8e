"""What `import --live` asks an account, and what becomes of the answers."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

from tests.support.import_sources import cluster as configuration
from tests.support.importing import at, outcomes
from tests.support.live_answers import (
    BLOCK,
    OTHER,
    PRIVATE,
    PUBLIC,
    ROLE,
    cluster,
    managed,
    scaling_group,
    template,
)
from tests.trainyard.importing.live.support.live_batch import VPC, LiveAccount
from trainyard.importing.imported import Imported
from trainyard.importing.live.clusters import ClusterMissingError, read_live

TARGET = {"CapacityReservationTarget": {"CapacityReservationId": BLOCK}}
PARAMETERS = {
    "ResourcesS3Bucket": "bucket",
    "ArtifactS3RootDirectory": "parallelcluster/3.16.1/clusters/train-x",
    "ConfigVersion": "v7",
}
TAGS = """\
Tags:
  - {Key: team, Value: vision}
  - {Key: "trainyard:cluster", Value: train}
"""


def read(account: LiveAccount, name: str, *, kind: str = "") -> Imported:
    return read_live(account, name, name="", kind=kind)  # pyright: ignore[reportArgumentType]


def eks_account() -> LiveAccount:
    group = managed(
        resources={"autoScalingGroups": [{"name": "eks-services"}]},
        launchTemplate={"id": "lt-1", "version": "3"},
    )
    data = template(
        InstanceType="p5.48xlarge",
        CapacityReservationSpecification=TARGET,
        IamInstanceProfile={"Arn": "arn:aws:iam::123456789012:instance-profile/own"},
        UserData="IyEvYmluL2Jhc2g=",
    )
    return LiveAccount(
        {
            "eks:DescribeCluster": {"cluster": cluster()},
            "eks:ListNodegroups": {"nodegroups": ["services"]},
            "eks:DescribeNodegroup": {"nodegroup": group},
            "eks:ListAddons": {"addons": ["vpc-cni"]},
            "eks:DescribeAddon": {"addon": {"addonName": "vpc-cni"}},
            "eks:ListAccessEntries": {"accessEntries": ["arn:aws:iam::123456789012:role/admin"]},
            "eks:DescribeAccessEntry": {"accessEntry": {"type": "STANDARD"}},
            "autoscaling:DescribeAutoScalingGroups": {
                "AutoScalingGroups": [
                    scaling_group(),
                    scaling_group("eks-services"),
                    scaling_group("other", Tags=[]),
                ]
            },
            "ec2:DescribeLaunchTemplateVersions": {"LaunchTemplateVersions": [data]},
            "ec2:DescribeCapacityReservations": {
                "CapacityReservations": [{"CapacityReservationId": BLOCK}]
            },
            "iam:GetInstanceProfile": {"InstanceProfile": {"Roles": [{"RoleName": "own"}]}},
            "iam:ListAttachedRolePolicies": {"AttachedPolicies": []},
            "iam:ListRolePolicies": {"PolicyNames": ["inline"]},
            "iam:GetRolePolicy": {"RoleName": ROLE, "PolicyName": "x", "PolicyDocument": {}},
        },
        {PUBLIC: "internet-gateway", PRIVATE: "nat", OTHER: "nat"},
    )


def slurm_account(**parameters: str) -> LiveAccount:
    given = PARAMETERS | parameters
    stack = {
        "Tags": [{"Key": "parallelcluster:version", "Value": "3.16.1"}],
        "Parameters": [
            {"ParameterKey": key, "ParameterValue": value} for key, value in given.items()
        ],
    }

    def stored(**asked: Any) -> dict[str, Any]:
        assert asked == {
            "Bucket": "bucket",
            "Key": "parallelcluster/3.16.1/clusters/train-x/configs/cluster-config.yaml",
            "VersionId": "v7",
        }
        return {"Body": io.BytesIO(configuration(more=TAGS).encode())}

    return LiveAccount(
        {"cloudformation:DescribeStacks": {"Stacks": [stack]}, "s3:GetObject": stored},
        dict.fromkeys(re.findall(r"subnet-\w+", configuration()), "nat"),
    )


@pytest.mark.parametrize("account", [eks_account(), slurm_account()], ids=["eks", "slurm"])
def test_only_calls_that_read_are_made(account: LiveAccount):
    read(account, "train")
    operations = {call.partition(":")[2] for call in account.calls}
    assert len(operations) > 3
    assert {
        each for each in operations if not each.startswith(("Describe", "List", "Get"))
    } == set()


def test_auto_scaling_groups_with_the_tag_are_self_managed_unless_eks_owns_them():
    found = read(eks_account(), "train")
    groups = found.document.at("DescribeAutoScalingGroups")
    assert [each["AutoScalingGroupName"] for each in groups] == ["training-1a2b"]


def test_the_retention_of_the_log_group_of_a_cluster_that_sends_logs_is_read():
    name = "/aws/eks/train/cluster"
    groups = [
        {"logGroupName": f"{name}-old", "retentionInDays": 7},
        {"logGroupName": name, "retentionInDays": 30},
    ]

    def listed(**asked: Any) -> dict[str, Any]:
        assert asked == {"logGroupNamePrefix": name}
        return {"logGroups": groups}

    account = eks_account()
    account.answers |= {"logs:DescribeLogGroups": listed}
    assert at(read(account, "train"), "architecture", "log_retention_days") == 30
    account.answers |= {"eks:DescribeCluster": {"cluster": cluster(logging={})}}
    assert "log_retention_days" not in at(read(account, "train"), "architecture")


def test_a_slurm_cluster_has_the_lines_of_its_configuration_and_its_vpc():
    found = read(slurm_account(), "train")
    assert found.stack.name == "train"
    assert at(found, "network", "vpc_id") == VPC
    assert ("network", "vpc_id") not in found.stack.unknown
    assert found.entries[0].line == 1


def test_tags_that_a_tool_sets_are_not_those_of_the_stack():
    found = read(slurm_account(), "train")
    assert at(found, "tags") == {"team": "vision"}
    assert outcomes(found)["Tags[1].Value"][0] == "dropped"


def test_a_head_node_in_a_private_subnet_leaves_no_public_one():
    found = read(slurm_account(), "train")
    assert at(found, "network", "public_subnet_ids") == []


def test_a_stack_that_is_no_cluster_of_parallelcluster_is_none():
    account = LiveAccount({"cloudformation:DescribeStacks": {"Stacks": [{"Tags": []}]}})
    with pytest.raises(ClusterMissingError, match="no eks or parallelcluster or batch cluster"):
        read(account, "train")


def test_a_name_of_two_clusters_needs_the_kind():
    both = eks_account()
    both.answers = {**both.answers, **slurm_account().answers}
    with pytest.raises(ClusterMissingError, match="`--kind eks` or `--kind parallelcluster`"):
        read(both, "train")
    found = read(both, "train", kind="eks")
    assert found.format.name == "live.eks"


def test_a_deleted_launch_template_is_a_note_of_the_import():
    account = eks_account()
    del account.answers["ec2:DescribeLaunchTemplateVersions"]
    notes = read(account, "train").report.notes
    assert any(each.startswith("left out: launch template lt-") for each in notes)
