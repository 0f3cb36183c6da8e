"""Managed node groups: the resources that EKS creates for them, and its refusals."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from moto.ec2.models import ec2_backends

from tests.support.kubernetes import DEFAULT
from tests.support.sandbox_aws import (
    ACCOUNT,
    BLOCK,
    ENDING,
    NVIDIA_IMAGE,
    PRIVATE_A,
    PRIVATE_B,
    STANDARD_IMAGE,
    Account,
    p5_block,
    refused,
    target,
    without,
)
from trainyard.components.catalog.versions import EKS_VERSIONS
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.eks.node_groups import scale_in_ending_blocks
from trainyard.sandbox.aws.eks.store import eks_stores
from trainyard.sandbox.aws.transitions import TRANSITIONS

RELEASE = EKS_VERSIONS[DEFAULT].ami_release_version


@pytest.fixture
def node_role(account: Account) -> str:
    account.cluster()
    return account.role("node")


def create(account: Account, role: str, **settings: Any) -> dict[str, Any]:
    account.eks.create_nodegroup(
        clusterName="c",
        nodegroupName="n",
        nodeRole=role,
        **{"subnets": [PRIVATE_B], "scalingConfig": {"minSize": 1, "maxSize": 2, "desiredSize": 1},
           **settings},
    )  # fmt: skip
    return account.eks.describe_nodegroup(clusterName="c", nodegroupName="n")["nodegroup"]


def block_template(account: Account, reservation_id: str = BLOCK) -> dict[str, str]:
    data = without(p5_block(account.group(), reservation_id), "ImageId")
    return {"id": account.template("p5", **data)}


def test_a_group_runs_in_an_autoscaling_group_of_its_own(account: Account, node_role: str) -> None:
    group = create(account, node_role, instanceTypes=["c5.2xlarge"], labels={"k": "v"})
    (behind,) = group["resources"]["autoScalingGroups"]
    assert behind["name"].startswith("eks-n-")
    assert group["status"] == "ACTIVE"
    assert group["releaseVersion"] == RELEASE
    assert account.described_group(behind["name"])["DesiredCapacity"] == 1
    (instance,) = account.instances()
    tags = {tag["Key"]: tag["Value"] for tag in instance["Tags"]}
    assert tags["eks:cluster-name"] == "c"
    assert tags["eks:nodegroup-name"] == "n"
    assert tags["kubernetes.io/cluster/c"] == "owned"
    cluster = account.eks.describe_cluster(name="c")["cluster"]
    assert [each["GroupId"] for each in instance["SecurityGroups"]] == [
        cluster["resourcesVpcConfig"]["clusterSecurityGroupId"]
    ]
    assert instance["MetadataOptions"]["HttpTokens"] == "required"


def test_eks_makes_the_entry_of_the_role_and_takes_it_away(
    account: Account, node_role: str
) -> None:
    create(account, node_role, instanceTypes=["c5.2xlarge"])
    entry = account.eks.describe_access_entry(clusterName="c", principalArn=node_role)
    assert entry["accessEntry"]["type"] == "EC2_LINUX"
    with refused("ResourceInUseException", "nodegroups"):
        account.eks.delete_cluster(name="c")
    account.eks.delete_nodegroup(clusterName="c", nodegroupName="n")
    assert node_role not in account.eks.list_access_entries(clusterName="c")["accessEntries"]
    assert account.instances() == []


def test_a_group_of_a_block_runs_in_the_block(account: Account, node_role: str) -> None:
    # D3: type, market and reservation are in the template
    group = create(
        account, node_role, launchTemplate=block_template(account),
        capacityType="CAPACITY_BLOCK", amiType="AL2023_x86_64_NVIDIA",
        scalingConfig={"minSize": 0, "maxSize": 2, "desiredSize": 2},
        updateConfig={"maxUnavailable": 1, "updateStrategy": "MINIMAL"},
        nodeRepairConfig={"enabled": True},
    )  # fmt: skip
    assert group["capacityType"] == "CAPACITY_BLOCK"
    assert group["updateConfig"]["updateStrategy"] == "MINIMAL"
    assert group["nodeRepairConfig"] == {"enabled": True}
    assert "instanceTypes" not in group
    instances = account.instances()
    assert [each["CapacityReservationId"] for each in instances] == [BLOCK, BLOCK]
    assert {each["ImageId"] for each in instances} == {NVIDIA_IMAGE}
    assert {len(each["NetworkInterfaces"]) for each in instances} == {33}


def test_a_block_without_room_is_told_in_the_health_of_an_active_group(
    account: Account, node_role: str
) -> None:
    # D10: EKS does not wait for the nodes of a block
    group = create(
        account, node_role, launchTemplate=block_template(account),
        capacityType="CAPACITY_BLOCK",
        scalingConfig={"minSize": 0, "maxSize": 3, "desiredSize": 3},
    )  # fmt: skip
    assert group["status"] == "ACTIVE"
    (issue,) = group["health"]["issues"]
    assert issue["code"] == "AsgInstanceLaunchFailures"
    assert "ReservationCapacityExceeded" in issue["message"]


def test_a_group_that_cannot_launch_has_failed(account: Account, node_role: str) -> None:
    template = account.template(
        "odcr",
        InstanceType="p5.48xlarge",
        CapacityReservationSpecification=target("cr-0fffffffffffffff1"),
    )
    group = create(account, node_role, launchTemplate={"id": template})
    assert group["status"] == "CREATE_FAILED"
    assert "InvalidCapacityReservationId.NotFound" in group["health"]["issues"][0]["message"]


@pytest.mark.parametrize(
    ("code", "words", "data", "settings"),
    [
        # Parity pain 15: EKS refuses a subnet in the template's interfaces
        ("InvalidRequestException", "subnet",
         {"NetworkInterfaces": [{"DeviceIndex": 0, "SubnetId": PRIVATE_B}]}, {}),
        ("InvalidRequestException", "instance profile", {"IamInstanceProfile": {"Name": "x"}}, {}),
        ("InvalidParameterException", "Instance type", {"InstanceType": "c5.2xlarge"},
         {"instanceTypes": ["c5.2xlarge"]}),
        ("InvalidParameterException", "Disk size", {}, {"diskSize": 100}),
        # D2
        ("InvalidRequestException", "the market type capacity-block",
         {"InstanceType": "p5.48xlarge"}, {"capacityType": "CAPACITY_BLOCK"}),
        ("InvalidRequestException", "CAPACITY_BLOCK",
         {"InstanceType": "p5.48xlarge",
          "InstanceMarketOptions": {"MarketType": "capacity-block"}}, {}),
        ("InvalidParameterException", "amiType", {"ImageId": NVIDIA_IMAGE},
         {"amiType": "AL2023_x86_64_NVIDIA"}),
    ],
)  # fmt: skip
def test_a_template_that_eks_refuses(
    account: Account,
    node_role: str,
    code: str,
    words: str,
    data: dict[str, Any],
    settings: dict[str, Any],
) -> None:
    template = account.template("t", **(data or {"InstanceType": "c5.2xlarge"}))
    with refused(code, words):
        create(account, node_role, launchTemplate={"id": template}, **settings)
    assert account.eks.list_nodegroups(clusterName="c")["nodegroups"] == []


@pytest.mark.parametrize(
    ("code", "words", "settings"),
    [
        ("InvalidRequestException", "launch template", {"capacityType": "CAPACITY_BLOCK"}),
        ("InvalidParameterException", "can't be greater than desired",
         {"scalingConfig": {"minSize": 2, "maxSize": 2, "desiredSize": 1}}),
        ("InvalidParameterException", "does not exist", {"subnets": ["subnet-0fffffffffffffff1"]}),
        ("InvalidParameterException", "nobody",
         {"nodeRole": f"arn:aws:iam::{ACCOUNT}:role/nobody"}),
        ("InvalidParameterException", RELEASE, {"releaseVersion": "1.35.0-20200101"}),
        ("InvalidParameterException", "BOTTLEROCKET", {"amiType": "BOTTLEROCKET_x86_64"}),
    ],
)  # fmt: skip
def test_a_group_that_eks_refuses(
    account: Account, node_role: str, code: str, words: str, settings: dict[str, Any]
) -> None:
    request = {"nodeRole": node_role, **settings}
    with refused(code, words):
        create(account, request.pop("nodeRole"), instanceTypes=["c5.2xlarge"], **request)


def test_a_group_changes_its_size_labels_and_taints(account: Account, node_role: str) -> None:
    taint = {"key": "gpu", "value": "true", "effect": "NO_SCHEDULE"}
    create(account, node_role, instanceTypes=["c5.2xlarge"], labels={"a": "1"})
    update = account.eks.update_nodegroup_config(
        clusterName="c", nodegroupName="n",
        scalingConfig={"desiredSize": 2},
        labels={"addOrUpdateLabels": {"b": "2"}, "removeLabels": ["a"]},
        taints={"addOrUpdateTaints": [taint]},
    )["update"]  # fmt: skip
    group = account.eks.describe_nodegroup(clusterName="c", nodegroupName="n")["nodegroup"]
    assert group["labels"] == {"b": "2"}
    assert group["taints"] == [taint]
    assert len(account.instances()) == 2
    ids = account.eks.list_updates(name="c", nodegroupName="n")["updateIds"]
    assert ids == [update["id"]]


def test_another_version_of_the_template_replaces_every_node(
    account: Account, node_role: str
) -> None:
    template = account.template("t", InstanceType="c5.2xlarge")
    create(account, node_role, launchTemplate={"id": template, "version": "1"})
    (before,) = account.instances()
    account.ec2.create_launch_template_version(
        LaunchTemplateId=template, LaunchTemplateData={"InstanceType": "c5.4xlarge"}
    )
    account.eks.update_nodegroup_version(
        clusterName="c", nodegroupName="n", launchTemplate={"id": template, "version": "2"}
    )
    (after,) = account.instances()
    assert (before["InstanceType"], after["InstanceType"]) == ("c5.2xlarge", "c5.4xlarge")


def test_a_group_of_a_block_is_updated_at_desired_zero_only(
    account: Account, node_role: str
) -> None:
    # D11
    create(
        account, node_role, launchTemplate=block_template(account),
        capacityType="CAPACITY_BLOCK",
    )  # fmt: skip
    with refused("InvalidRequestException", "desired size is 0"):
        account.eks.update_nodegroup_version(clusterName="c", nodegroupName="n")


def test_eks_scales_a_group_in_before_its_block_ends(account: Account, node_role: str) -> None:
    # D9: forty minutes before the end; the fixture's block has thirty-five left
    create(
        account, node_role, launchTemplate=block_template(account, ENDING),
        capacityType="CAPACITY_BLOCK",
    )  # fmt: skip
    ec2, store = ec2_backends[ACCOUNT]["us-west-2"], eks_stores[ACCOUNT]["us-west-2"]
    assert scale_in_ending_blocks(ec2, store) == ["n"]
    assert account.instances() == []
    group = account.eks.describe_nodegroup(clusterName="c", nodegroupName="n")["nodegroup"]
    assert group["scalingConfig"]["desiredSize"] == 0


def test_eks_leaves_a_group_alone_whose_block_lasts(account: Account, node_role: str) -> None:
    create(
        account, node_role, launchTemplate=block_template(account),
        capacityType="CAPACITY_BLOCK", subnets=[PRIVATE_B],
    )  # fmt: skip
    ec2, store = ec2_backends[ACCOUNT]["us-west-2"], eks_stores[ACCOUNT]["us-west-2"]
    CLOCK.advance(timedelta(days=5))
    assert scale_in_ending_blocks(ec2, store) == []


def test_a_subnet_of_another_vpc_is_refused(account: Account, node_role: str) -> None:
    other = account.ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = account.ec2.create_subnet(
        VpcId=other, CidrBlock="10.9.0.0/20", AvailabilityZone="us-west-2a"
    )["Subnet"]["SubnetId"]
    with refused("InvalidParameterException", "does not belong"):
        create(account, node_role, instanceTypes=["c5.2xlarge"], subnets=[subnet, PRIVATE_A])


def custom(account: Account) -> dict[str, str]:
    """Return a launch template with an image of its own."""
    data = {"ImageId": STANDARD_IMAGE, "InstanceType": "c5.2xlarge"}
    return {"id": account.template("custom", **data)}


def test_a_group_with_an_image_of_its_own_has_no_version(account: Account, node_role: str) -> None:
    """eksctl-io/eksctl, pull request 3960."""
    group = create(account, node_role, launchTemplate=custom(account))
    assert (group["amiType"], group["releaseVersion"]) == ("CUSTOM", STANDARD_IMAGE)
    assert "version" not in group
    (instance,) = account.instances()
    assert instance["ImageId"] == STANDARD_IMAGE
    with refused("InvalidRequestException", "launch template"):
        account.eks.update_nodegroup_version(clusterName="c", nodegroupName="n")
    account.eks.update_nodegroup_version(
        clusterName="c", nodegroupName="n", launchTemplate=group["launchTemplate"]
    )


def test_a_group_that_is_created_shows_no_autoscaling_group_and_no_taints(
    account: Account, node_role: str
) -> None:
    """aws/aws-cli, awscli/examples/eks/create-nodegroup.rst at 07c4fe36."""
    TRANSITIONS.scale = 1
    creating = create(account, node_role, instanceTypes=["c5.2xlarge"])
    assert creating["status"] == "CREATING"
    assert not creating.keys() & {"resources", "taints"}
    CLOCK.advance(timedelta(hours=1))
    active = account.eks.describe_nodegroup(clusterName="c", nodegroupName="n")["nodegroup"]
    assert (active["status"], "resources" in active) == ("ACTIVE", True)
