"""The answers about an EKS cluster become the stack file that means the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.importing import at, document_with, outcomes
from tests.support.live_answers import (
    BLOCK,
    OTHER,
    PRIVATE,
    PUBLIC,
    ROLE,
    answers,
    cluster,
    efa_interfaces,
    managed,
    read_eks,
    scaling_group,
    template,
    user_data,
)
from trainyard.components import clock
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.config.load import load_stack_config
from trainyard.importing.formats import EKS_ANSWERS
from trainyard.importing.imported import imported_as
from trainyard.importing.live.answers import document_of
from trainyard.importing.report import FATES
from trainyard.importing.source import leaves

TARGET = {
    "CapacityReservationPreference": "capacity-reservations-only",
    "CapacityReservationTarget": {"CapacityReservationId": BLOCK},
}
MARKET = {"MarketType": "capacity-block"}


def block_template(**data: Any) -> dict[str, Any]:
    return template(
        InstanceType="p5.48xlarge",
        InstanceMarketOptions=MARKET,
        CapacityReservationSpecification=TARGET,
        NetworkInterfaces=efa_interfaces(32),
        **data,
    )


def test_a_cluster_is_one_in_the_same_vpc():
    read = read_eks(answers())
    assert (read.stack.name, read.stack.region) == ("train", "us-west-2")
    assert at(read, "network") == {
        "kind": "existing-vpc",
        "vpc_id": "vpc-0123456789abcdef0",
        "public_subnet_ids": [PUBLIC],
        "private_subnet_ids": [PRIVATE, OTHER],
    }
    assert at(read, "tags") == {"team": "vision"}
    assert at(read, "architecture", "log_types") == ["api", "audit"]
    assert at(read, "architecture", "endpoint") == {
        "public_access": True,
        "private_access": True,
        "public_access_cidrs": ["52.1.0.0/16"],
    }


@pytest.mark.parametrize(
    ("group", "stack", "days"),
    [
        ({"retentionInDays": 1096}, "train", 1096),
        ({"retentionInDays": 1096}, "prod", 1096),
        ({}, "train", 0),
        ({}, "prod", None),
    ],
)
def test_the_log_group_of_the_control_plane_keeps_its_retention(group, stack, days):
    """A group that EKS has created keeps logs forever; only the stack that adopts it goes on."""
    found = answers(DescribeLogGroups=[{"logGroupName": "/aws/eks/train/cluster", **group}])
    read = imported_as(EKS_ANSWERS, document_of("train", found), name=stack, region="us-west-2")
    assert at(read, "architecture").get("log_retention_days") == days
    field = "retentionInDays" if group else "logGroupName"
    fate = ("implied", "") if days is None else ("taken over", "architecture.log_retention_days")
    assert outcomes(read)[f"DescribeLogGroups[0].{field}"] == fate


def test_the_stack_file_can_be_planned():
    group = managed("gpu", launchTemplate={"id": "lt-1", "version": "3"}, instanceTypes=[])
    found = answers(
        DescribeNodegroup=[managed(), group | {"subnets": [PRIVATE]}],
        DescribeLaunchTemplateVersions=[block_template()],
    )
    read = read_eks(found)
    config = load_stack_config(read.stack.values, stack_file="Pulumi.train.yaml")
    plan = plan_stack(config, stack_file="Pulumi.train.yaml", region="us-west-2", now=clock.now())
    assert [each.name for each in plan.node_pools] == ["system", "gpu"]


def test_the_first_managed_group_without_accelerators_runs_services():
    found = answers(DescribeNodegroup=[managed("a"), managed("system"), managed("gpu")])
    read = read_eks(found)
    assert outcomes(read)["DescribeNodegroup[1].nodegroupName"] == (
        "taken over",
        "architecture.system_node_group",
    )
    assert [*at(read, "architecture", "node_groups")] == ["a", "gpu"]


def test_a_self_managed_group_of_a_capacity_block_is_read_from_its_launch_template():
    volume = {"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 500, "VolumeType": "gp3"}}
    names = [{"ResourceType": "instance", "Tags": [{"Key": "Name", "Value": "train-p5-Node"}]}]
    found = answers(
        DescribeAutoScalingGroups=[scaling_group()],
        DescribeLaunchTemplateVersions=[
            block_template(
                BlockDeviceMappings=[volume],
                KeyName="mine",
                TagSpecifications=names,
                UserData=user_data(),
            )
        ],
    )
    read = read_eks(found)
    assert at(read, "reservations") == {"p5": {"kind": "capacity-block", "reservation_id": BLOCK}}
    assert at(read, "architecture", "node_groups", "p5") == {
        "management": "self-managed",
        "minimum": 0,
        "desired": 2,
        "maximum": 2,
        "instance_type": "p5.48xlarge",
        "purchase_option": "p5",
        "efa_enabled": True,
        "subnet_id": PRIVATE,
        "ssh_key_name": "mine",
        "root_volume": {"size_gib": 500},
        "labels": {"team": "vision", "pool": "gpu"},
        "taints": [
            {"key": "nvidia.com/gpu", "value": "", "effect": "NoSchedule"},
            {"key": "spare", "value": "", "effect": "NoExecute"},
        ],
        "local_nvme": "none",
    }


@pytest.mark.parametrize(("limit", "hops"), [(1, 1), (2, None), (None, None)])
def test_nodes_whose_metadata_pods_do_not_reach_stay_so(limit: int | None, hops: int | None):
    """With another limit, pods of the stack reach it if they need it."""
    options = {"HttpTokens": "required", "HttpPutResponseHopLimit": limit}
    data = {key: value for key, value in options.items() if value is not None}
    found = answers(
        DescribeAutoScalingGroups=[scaling_group()],
        DescribeLaunchTemplateVersions=[block_template(MetadataOptions=data)],
    )
    (nodes,) = at(read_eks(found), "architecture", "node_groups").values()
    assert nodes.get("metadata_hop_limit") == hops


def test_user_data_is_not_in_the_report_because_it_can_have_secrets():
    found = answers(
        DescribeAutoScalingGroups=[scaling_group()],
        DescribeLaunchTemplateVersions=[block_template(UserData=user_data())],
    )
    shown = [str(entry.value) for entry in read_eks(found).entries]
    assert not [value for value in shown if "secret" in value or "c2VjcmV0" in value]
    assert user_data("#!/bin/bash\nexport TOKEN=secret\n") == {"scripts": 1}


@pytest.mark.parametrize(
    ("kind", "layout"), [("efa-only", None), ("efa", "efa")], ids=["efa-only", "efa"]
)
def test_interfaces_with_addresses_are_a_layout(kind: str, layout: str | None):
    group = managed("gpu", launchTemplate={"id": "lt-1", "version": "3"}, instanceTypes=[])
    data = template(InstanceType="p5.48xlarge", NetworkInterfaces=efa_interfaces(32, kind))
    found = answers(DescribeNodegroup=[managed(), group], DescribeLaunchTemplateVersions=[data])
    assert at(read_eks(found), "architecture", "node_groups", "gpu").get("interface_layout") == (
        layout
    )


def test_a_template_with_too_few_efa_interfaces_is_taken_over_better():
    group = managed("gpu", launchTemplate={"id": "lt-1", "version": "3"}, instanceTypes=[])
    data = template(InstanceType="p5.48xlarge", NetworkInterfaces=efa_interfaces(1))
    read = read_eks(
        answers(DescribeNodegroup=[managed(), group], DescribeLaunchTemplateVersions=[data])
    )
    (claim,) = {e.claim for e in read.entries if "NetworkInterfaces" in e.location}
    assert claim.fate == "taken over better"
    assert "1 of the 32 EFA interfaces" in claim.why


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        ("123456789012", {"placement_group": "pg-training"}),
        ("999999999999", {"provenance": "aws-assisted"}),
    ],
)
def test_the_placement_group_of_a_reservation_says_whose_it_is(
    owner: str, expected: dict[str, str]
):
    group = managed("gpu", launchTemplate={"id": "lt-1", "version": "3"}, instanceTypes=[])
    arn = f"arn:aws:ec2:us-west-2:{owner}:placement-group/pg-training"
    found = answers(
        DescribeNodegroup=[managed(), group],
        DescribeLaunchTemplateVersions=[
            template(
                InstanceType="p5.48xlarge",
                CapacityReservationSpecification=TARGET,
                Placement={"GroupName": "pg-training"},
            )
        ],
        DescribeCapacityReservations=[{"CapacityReservationId": BLOCK, "PlacementGroupArn": arn}],
    )
    read = read_eks(found)
    assert at(read, "reservations", "gpu") == {
        "kind": "odcr",
        "reservation_id": BLOCK,
        **expected,
    }
    assert "placement" not in at(read, "architecture", "node_groups", "gpu")


def test_policies_of_the_role_are_permissions_of_the_nodes():
    attached = ["AmazonEKSWorkerNodePolicy", "CloudWatchAgentServerPolicy", "AmazonS3FullAccess"]
    document = {"Effect": "Allow", "Action": "autoscaling:SetDesiredCapacity", "Resource": "*"}
    found = answers(
        ListAttachedRolePolicies=[
            {
                "RoleName": ROLE,
                "AttachedPolicies": [
                    {"PolicyName": name, "PolicyArn": f"arn:aws:iam::aws:policy/{name}"}
                    for name in attached
                ],
            }
        ],
        GetRolePolicy=[
            {"RoleName": ROLE, "PolicyName": "own", "PolicyDocument": {"Statement": document}}
        ],
    )
    nodes = at(read_eks(found), "architecture", "system_node_group")
    assert nodes["addon_policies"] == ["autoscaler", "cloudwatch"]
    assert nodes["iam_policies"] == ["AmazonS3FullAccess"]


def test_nodes_in_public_subnets_move_to_private_ones():
    read = read_eks(answers(DescribeNodegroup=[managed(subnets=[PUBLIC])]))
    fate, _ = outcomes(read)["DescribeNodegroup[0].subnets[0]"]
    assert fate == "taken over better"


def test_self_managed_nodes_that_join_through_an_access_entry_still_do():
    entry = {"type": "EC2_LINUX", "principalArn": f"arn:aws:iam::123456789012:role/{ROLE}"}
    found = answers(
        DescribeAutoScalingGroups=[scaling_group()],
        DescribeLaunchTemplateVersions=[block_template(IamInstanceProfile={"Name": "profile"})],
        GetInstanceProfile=[{"InstanceProfileName": "profile", "RoleName": ROLE}],
        DescribeAccessEntry=[entry],
    )
    read = read_eks(found)
    assert at(read, "architecture", "node_authorization") == "access-entry"
    assert outcomes(read)["DescribeAccessEntry[0].type"][0] == "implied"


def test_access_entries_of_users_are_named_with_the_command():
    entry = {"type": "STANDARD", "principalArn": "arn:aws:iam::123456789012:role/admin"}
    read = read_eks(answers(DescribeAccessEntry=[entry]))
    (claim,) = {e.claim for e in read.entries if e.location[-1] == "principalArn"}
    assert claim.fate == "not supported"
    assert "aws eks create-access-entry" in claim.why


def test_two_groups_whose_nodes_have_the_same_name_have_their_own():
    names = [{"ResourceType": "instance", "Tags": [{"Key": "Name", "Value": "train-gpu-Node"}]}]
    found = answers(
        DescribeAutoScalingGroups=[scaling_group("gpu-old"), scaling_group("gpu-new")],
        DescribeLaunchTemplateVersions=[block_template(TagSpecifications=names)],
    )
    assert [*at(read_eks(found), "architecture", "node_groups")] == ["gpu", "gpu-new"]


@pytest.mark.parametrize("creator", ["eksctl-train", "eksctl-other", None])
def test_a_vpc_that_is_deleted_with_the_cluster_is_in_a_note(creator: str | None):
    tags = [{"Key": "aws:cloudformation:stack-name", "Value": creator}] if creator else []
    vpc = {"VpcId": "vpc-0123456789abcdef0", "Tags": tags}
    notes = " ".join(read_eks(answers(DescribeVpcs=[vpc])).report.notes)
    assert ("is deleted with it" in notes) == (creator == "eksctl-train")


def test_a_version_that_stacks_do_not_have_becomes_the_default():
    read = read_eks(answers(DescribeCluster=cluster(version="1.29")))
    assert outcomes(read)["DescribeCluster.version"] == (
        "taken over better",
        "architecture.kubernetes_version",
    )


def test_every_field_of_the_api_is_in_the_report():
    conversion = EKS_ANSWERS.conversion()
    read = read_eks(document_with(conversion.KEYS, {}))
    assert read.problems == []
    fields = [location for location, _ in leaves(read.document.root)]
    assert [entry.location for entry in read.entries] == fields
    assert len(fields) > 400
    for entry in read.entries:
        assert entry.claim.fate in FATES
        assert entry.claim.ours or entry.claim.why, entry


def test_a_row_of_the_table_of_fates_is_for_a_field_of_the_api():
    conversion = EKS_ANSWERS.conversion()
    assert [path for path in conversion.OUTCOMES.rows if path not in conversion.KEYS.kinds] == []
