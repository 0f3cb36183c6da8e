"""An instance of a group is terminated and replaced, also in a full reservation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.eks import P5
from tests.support.sandbox_aws import BLOCK, PRIVATE_B, STANDARD_IMAGE, Account, p5_block, refused
from trainyard.components import clock
from trainyard.components.capacity.plan import CapacityPlan
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.repair.account import Account as Reader
from trainyard.repair.decision import Cluster, decide
from trainyard.repair.report import report
from trainyard.sandbox.aws.transitions import TRANSITIONS


@pytest.fixture
def full(account: Account) -> dict[str, Any]:
    """Return a group that fills the Capacity Block."""
    template = account.template("p5", **p5_block(account.group()))
    return account.autoscaling_group("p5", template, DesiredCapacity=2)


def ids(group: dict[str, Any]) -> set[str]:
    return {each["InstanceId"] for each in group["Instances"]}


def terminate(account: Account, instance_id: str, *, decrement: bool = False) -> dict[str, Any]:
    return account.autoscaling.terminate_instance_in_auto_scaling_group(
        InstanceId=instance_id, ShouldDecrementDesiredCapacity=decrement
    )["Activity"]


def test_the_replacement_launches_into_the_place_that_the_termination_frees(
    account: Account, full: dict[str, Any]
) -> None:
    old, kept = sorted(ids(full))
    activity = terminate(account, old)
    assert activity["AutoScalingGroupName"] == "p5"
    assert activity["Description"] == f"Terminating EC2 instance: {old}"
    group = account.described_group("p5")
    assert group["DesiredCapacity"] == 2
    assert kept in ids(group)
    (new,) = ids(group) - {kept}
    assert new != old
    assert account.reservation(BLOCK)["AvailableInstanceCount"] == 0
    found = account.ec2.describe_instances(InstanceIds=[new])["Reservations"][0]["Instances"][0]
    assert found["CapacityReservationId"] == BLOCK
    activities = account.autoscaling.describe_scaling_activities(AutoScalingGroupName="p5")
    newest = [each["Description"] for each in activities["Activities"][:2]]
    assert newest == [
        f"Launching a new EC2 instance: {new}",
        f"Terminating EC2 instance: {old}",
    ]


def test_an_instance_of_no_group_is_refused(account: Account) -> None:
    made = account.ec2.run_instances(
        ImageId=STANDARD_IMAGE, InstanceType="c5.2xlarge", MinCount=1, MaxCount=1
    )
    with refused("ValidationError", "No managed instance found for instance ID"):
        terminate(account, made["Instances"][0]["InstanceId"])


def test_a_decrement_is_not_emulated(account: Account, full: dict[str, Any]) -> None:
    with refused("SandboxNotImplemented", "decrement"):
        terminate(account, next(iter(ids(full))), decrement=True)


def reader(account: Account) -> Reader:
    return Reader(ec2=account.ec2, eks=account.eks, autoscaling=account.autoscaling, cluster="c")


def planned(**changes: Any) -> NodeGroupPlan:
    capacity = CapacityPlan(purchase_option="block", kind="capacity-block", reservation_id=BLOCK)
    return replace(P5, management="self-managed", capacity=capacity, **changes)


def test_a_repair_reads_the_group_and_replaces_an_instance_inside_the_block(
    account: Account, full: dict[str, Any]
) -> None:
    outputs = {"p5": {"autoscaling_group": "p5"}, "removed": {"autoscaling_group": "x"}}
    (found,) = reader(account).groups([planned()], outputs)
    assert (found.name, found.scaling_group, found.desired, found.at_once) == ("p5", "p5", 2, 1)
    assert found.instances == dict.fromkeys(ids(full), "InService")
    assert found.reservation_of == dict.fromkeys(ids(full), BLOCK)
    (use,) = reader(account).reservations([found]).values()
    assert (use.reservation_id, use.available, use.is_open) == (BLOCK, 0, False)
    old = next(iter(ids(full)))
    reader(account).terminate(old)
    (after,) = reader(account).groups([planned()], outputs)
    assert len(after.instances) == 2
    assert old not in after.instances
    assert set(after.reservation_of.values()) == {BLOCK}
    assert reader(account).refusal(after) == ""


def test_a_repair_reads_suspended_processes(account: Account, full: dict[str, Any]) -> None:
    account.autoscaling.suspend_processes(AutoScalingGroupName="p5", ScalingProcesses=["Launch"])
    (found,) = reader(account).groups([planned()], {"p5": {"autoscaling_group": "p5"}})
    assert found.suspended == ("Launch",)


def test_eks_repairs_managed_groups_with_auto_repair_only(account: Account) -> None:
    """https://docs.aws.amazon.com/eks/latest/userguide/node-repair.html: not self-managed nodes."""
    gone = {"p5": {"autoscaling_group": "gone"}}
    repairs = P5.config.model_copy(update={"auto_repair": True})

    def repaired(**changes: Any) -> bool:
        (found,) = reader(account).groups([replace(planned(), **changes)], gone)
        return found.repaired_by_eks

    assert repaired(management="managed", config=repairs)
    assert not repaired(management="self-managed", config=repairs)
    assert not repaired(
        management="managed", config=P5.config.model_copy(update={"auto_repair": False})
    )


def test_members_of_a_reservation_group_are_known_by_id(account: Account) -> None:
    arn = f"arn:aws:ec2:us-west-2:123456789012:capacity-reservation/{BLOCK}"
    capacity = CapacityPlan(
        purchase_option="group", kind="odcr-group", reservation_group_members=(arn, "cr-1")
    )
    gone = {"p5": {"autoscaling_group": "gone"}}
    (found,) = reader(account).groups([replace(planned(), capacity=capacity)], gone)
    assert found.targets == (BLOCK, "cr-1")
    assert (found.desired, found.instances, found.reservation_of) == (0, {}, {})


def test_a_managed_group_that_eks_still_creates_is_left_out_of_a_repair(account: Account) -> None:
    account.cluster()
    TRANSITIONS.scale = 1
    account.eks.create_nodegroup(
        clusterName="c", nodegroupName="p5", nodeRole=account.role("node"), subnets=[PRIVATE_B]
    )
    (found,) = reader(account).groups([planned()], {"p5": {"node_group": "p5"}})
    assert (found.scaling_group, found.desired, found.instances) == ("", 0, {})
    assert reader(account).refusal(found) == ""
    cluster = Cluster(nodes=(), groups=(found,), reservations={})
    decision = decide(cluster, now=clock.now(), named=None)
    (said,) = report(decision, cluster, {})
    assert said.startswith(f"node group {found.name} is left out: EKS has not created")
