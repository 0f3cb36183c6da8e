"""Managed node groups and available capacity: reservations, groups of reservations, Spot."""

from __future__ import annotations

from typing import Any

import pytest
from moto.ec2.models import ec2_backends

from tests.support.sandbox_aws import (
    ACCOUNT,
    ENDING,
    ODCR,
    PRIVATE_B,
    Account,
    p5_block,
    target,
    without,
)
from trainyard.sandbox.aws.eks.node_groups import scale_in_ending_blocks
from trainyard.sandbox.aws.eks.store import eks_stores

ONLY = {"CapacityReservationPreference": "capacity-reservations-only"}


@pytest.fixture
def node_role(account: Account) -> str:
    account.cluster()
    return account.role("node")


def create(account: Account, role: str, desired: int, **settings: Any) -> dict[str, Any]:
    account.eks.create_nodegroup(
        clusterName="c",
        nodegroupName="n",
        nodeRole=role,
        subnets=[PRIVATE_B],
        scalingConfig={"minSize": 0, "maxSize": 3, "desiredSize": desired},
        **settings,
    )
    return described(account)


def described(account: Account) -> dict[str, Any]:
    return account.eks.describe_nodegroup(clusterName="c", nodegroupName="n")["nodegroup"]


def reserved(account: Account, specification: dict[str, Any]) -> dict[str, str]:
    """Create a template that launches only into reservations; return a group's reference to it."""
    data = {
        "InstanceType": "p5.48xlarge",
        "CapacityReservationSpecification": {**specification, **ONLY},
    }
    return {"id": account.template("reserved", **data)}


def in_group(arn: str) -> dict[str, Any]:
    return {"CapacityReservationTarget": {"CapacityReservationResourceGroupArn": arn}}


@pytest.mark.parametrize("grouped", [False, True], ids=["by-id", "by-group"])
def test_a_reservation_serves_as_many_nodes_as_it_has(
    account: Account, node_role: str, grouped: bool
) -> None:
    """C5, PR-07."""
    specification = in_group(account.reservation_group(ODCR)) if grouped else target(ODCR)
    group = create(account, node_role, 2, launchTemplate=reserved(account, specification))
    assert group["status"] == "ACTIVE"
    assert [each["CapacityReservationId"] for each in account.instances()] == [ODCR, ODCR]


@pytest.mark.parametrize("grouped", [False, True], ids=["by-id", "by-group"])
def test_a_group_that_wants_more_than_its_reservation_has_fails(
    account: Account, node_role: str, grouped: bool
) -> None:
    """C5: the nodes that fit run, and EKS reports the error of the others."""
    specification = in_group(account.reservation_group(ODCR)) if grouped else target(ODCR)
    group = create(account, node_role, 3, launchTemplate=reserved(account, specification))
    assert group["status"] == "CREATE_FAILED"
    (issue,) = group["health"]["issues"]
    assert issue["code"] == "AsgInstanceLaunchFailures"
    assert "ReservationCapacityExceeded" in issue["message"]
    assert len(account.instances()) == 2


def test_a_group_of_reservations_that_is_gone_serves_nobody(
    account: Account, node_role: str
) -> None:
    arn = account.reservation_group(ODCR)
    account.client("resource-groups").delete_group(Group="pool")
    emptied = account.reservation_group()
    assert emptied == arn
    group = create(account, node_role, 1, launchTemplate=reserved(account, in_group(emptied)))
    assert group["status"] == "CREATE_FAILED"


def test_spot_is_the_capacity_type_of_the_group(account: Account, node_role: str) -> None:
    template = {"id": account.template("spot", InstanceType="g4dn.8xlarge")}
    group = create(account, node_role, 1, launchTemplate=template, capacityType="SPOT")
    assert group["capacityType"] == "SPOT"
    (instance,) = account.instances()
    assert instance["InstanceLifecycle"] == "spot"


def test_how_nodes_are_updated_and_repaired_can_be_changed(
    account: Account, node_role: str
) -> None:
    """G11."""
    create(account, node_role, 0, instanceTypes=["c5.2xlarge"])
    account.eks.update_nodegroup_config(
        clusterName="c",
        nodegroupName="n",
        updateConfig={"maxUnavailablePercentage": 100, "updateStrategy": "MINIMAL"},
        nodeRepairConfig={"enabled": True},
    )
    group = described(account)
    assert group["updateConfig"] == {"maxUnavailablePercentage": 100, "updateStrategy": "MINIMAL"}
    assert group["nodeRepairConfig"] == {"enabled": True}


def test_a_schedule_of_the_group_behind_shows_in_the_node_group(
    account: Account, node_role: str
) -> None:
    """D8: a scheduled action of the Auto Scaling group changes the node group's size."""
    group = create(account, node_role, 0, instanceTypes=["c5.2xlarge"])
    behind = group["resources"]["autoScalingGroups"][0]["name"]
    account.autoscaling.set_desired_capacity(AutoScalingGroupName=behind, DesiredCapacity=2)
    sizes = described(account)["scalingConfig"]
    assert sizes == {"minSize": 0, "maxSize": 3, "desiredSize": 2}


def test_eks_empties_a_group_that_a_schedule_filled(account: Account, node_role: str) -> None:
    """D9."""
    data = without(p5_block(account.group(), ENDING), "ImageId")
    template = {"id": account.template("block", **data)}
    group = create(account, node_role, 0, launchTemplate=template, capacityType="CAPACITY_BLOCK")
    behind = group["resources"]["autoScalingGroups"][0]["name"]
    account.autoscaling.set_desired_capacity(AutoScalingGroupName=behind, DesiredCapacity=1)
    ec2 = ec2_backends[ACCOUNT]["us-west-2"]
    assert scale_in_ending_blocks(ec2, eks_stores[ACCOUNT]["us-west-2"]) == ["n"]
    assert described(account)["scalingConfig"]["desiredSize"] == 0
