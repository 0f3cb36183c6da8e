"""An instance of a group is terminated and replaced, also in a full reservation."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.sandbox_aws import BLOCK, STANDARD_IMAGE, Account, p5_block, refused


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
