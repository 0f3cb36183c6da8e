"""Auto Scaling groups: failed launches are activities, and schedules follow the clock."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from moto.autoscaling.models import autoscaling_backends
from moto.ec2.models import ec2_backends

from tests.support.sandbox_aws import (
    ACCOUNT,
    BLOCK,
    ENDING,
    PRIVATE_A,
    PRIVATE_B,
    SCHEDULED,
    STANDARD_IMAGE,
    Account,
    p5_block,
    refused,
)
from trainyard.sandbox.aws.autoscaling.calls import run_due_actions
from trainyard.sandbox.aws.autoscaling.groups import RETRY_INTERVAL, retry_launches
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.capacity_blocks import end_of_capacity


@pytest.fixture
def backend(account: Account) -> Any:
    return autoscaling_backends[ACCOUNT]["us-west-2"]


def block_template(account: Account, reservation_id: str = BLOCK) -> str:
    return account.template("p5", **p5_block(account.group(), reservation_id))


def plain_template(account: Account, name: str = "plain") -> str:
    return account.template(name, ImageId=STANDARD_IMAGE, InstanceType="c5.2xlarge")


def activities(account: Account, name: str) -> list[dict[str, Any]]:
    answer = account.autoscaling.describe_scaling_activities(AutoScalingGroupName=name)
    return answer["Activities"]


def test_a_launch_that_fails_is_an_activity_and_not_an_error(account: Account) -> None:
    group = account.autoscaling_group("p5", block_template(account), DesiredCapacity=3)
    assert len(group["Instances"]) == 2
    latest = activities(account, "p5")[0]
    assert latest["StatusCode"] == "Failed"
    assert "ReservationCapacityExceeded" in latest["StatusMessage"]
    assert latest["StatusMessage"].endswith("Launching EC2 instance failed.")


def test_a_block_that_has_not_begun_fails_until_it_has(account: Account, backend: Any) -> None:
    # D8
    template_id = block_template(account, SCHEDULED)
    group = account.autoscaling_group("p5", template_id, DesiredCapacity=2)
    assert group["Instances"] == []
    assert "InvalidCapacityReservationState" in activities(account, "p5")[0]["StatusMessage"]
    CLOCK.advance(timedelta(days=2, minutes=1))
    retry_launches(backend)
    assert len(account.described_group("p5")["Instances"]) == 2


def test_a_group_tries_again_when_its_time_has_come_and_not_before(
    account: Account, backend: Any
) -> None:
    reservation = account.ec2.create_capacity_reservation(
        InstanceType="c5.2xlarge",
        InstancePlatform="Linux/UNIX",
        AvailabilityZone="us-west-2b",
        InstanceCount=1,
        InstanceMatchCriteria="targeted",
    )["CapacityReservation"]["CapacityReservationId"]
    template_id = account.template(
        "reserved",
        ImageId=STANDARD_IMAGE,
        InstanceType="c5.2xlarge",
        CapacityReservationSpecification={
            "CapacityReservationTarget": {"CapacityReservationId": reservation}
        },
    )
    account.autoscaling_group("group", template_id, DesiredCapacity=2)
    failures = len(activities(account, "group"))
    account.ec2.modify_capacity_reservation(CapacityReservationId=reservation, InstanceCount=2)
    retry_launches(backend)
    assert len(account.described_group("group")["Instances"]) == 1
    assert len(activities(account, "group")) == failures
    CLOCK.advance(RETRY_INTERVAL)
    retry_launches(backend)
    assert len(account.described_group("group")["Instances"]) == 2


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("does not exist", {"ImageId": "ami-0fffffffffffffff1"}),
        ("InstanceType", {"InstanceType": "p5.47xlarge"}),
        ("Invalid IAM Instance Profile name", {"IamInstanceProfile": {"Name": "nobody"}}),
        ("unknown", {"Placement": {"GroupName": "nowhere"}}),
    ],
)
def test_a_template_that_ec2_would_refuse_is_refused_with_the_group(
    account: Account, words: str, change: dict[str, Any]
) -> None:
    data = {"ImageId": STANDARD_IMAGE, "InstanceType": "c5.2xlarge", **change}
    with refused("ValidationError", "valid fully-formed launch template", words):
        account.autoscaling_group("group", account.template("bad", **data), DesiredCapacity=0)


@pytest.mark.parametrize(
    ("words", "sizes"),
    [
        # E9
        ("Desired capacity:5", {"MinSize": 0, "MaxSize": 2, "DesiredCapacity": 5}),
        ("Max bound, 1", {"MinSize": 2, "MaxSize": 1}),
    ],
)
def test_sizes_that_contradict_each_other_are_refused(
    account: Account, words: str, sizes: dict[str, int]
) -> None:
    with refused("ValidationError", words):
        account.autoscaling_group("group", plain_template(account), **sizes)


def test_instances_are_spread_over_the_subnets(account: Account) -> None:
    account.autoscaling_group(
        "group",
        plain_template(account),
        DesiredCapacity=4,
        VPCZoneIdentifier=f"{PRIVATE_A},{PRIVATE_B}",
    )
    subnets = sorted(instance["SubnetId"] for instance in account.instances())
    assert subnets == [PRIVATE_A, PRIVATE_A, PRIVATE_B, PRIVATE_B]


def test_an_instance_that_somebody_terminates_is_replaced(account: Account) -> None:
    account.autoscaling_group("group", plain_template(account), DesiredCapacity=1)
    (first,) = account.instances()
    account.ec2.terminate_instances(InstanceIds=[first["InstanceId"]])
    (second,) = account.instances()
    assert second["InstanceId"] != first["InstanceId"]


def test_an_update_keeps_what_it_does_not_name(account: Account) -> None:
    template_id = plain_template(account)
    account.autoscaling_group(
        "group", template_id, DesiredCapacity=1, DefaultInstanceWarmup=30, DefaultCooldown=10
    )
    account.autoscaling.update_auto_scaling_group(
        AutoScalingGroupName="group", MinSize=2, MaxSize=3
    )
    group = account.described_group("group")
    assert (group["MinSize"], group["DesiredCapacity"], group["MaxSize"]) == (2, 2, 3)
    assert (group["DefaultInstanceWarmup"], group["DefaultCooldown"]) == (30, 10)
    assert group["LaunchTemplate"]["LaunchTemplateId"] == template_id


def test_a_group_with_instances_is_deleted_by_force_only(account: Account) -> None:
    account.autoscaling_group("group", plain_template(account), DesiredCapacity=1)
    with refused("ResourceInUse"):
        account.autoscaling.delete_auto_scaling_group(AutoScalingGroupName="group")
    account.autoscaling.delete_auto_scaling_group(AutoScalingGroupName="group", ForceDelete=True)
    assert account.instances() == []


def put_action(account: Account, name: str, after: timedelta, **sizes: int) -> None:
    account.autoscaling.put_scheduled_update_group_action(
        AutoScalingGroupName="group",
        ScheduledActionName=name,
        StartTime=CLOCK.now() + after,
        **sizes,
    )


def scheduled(account: Account) -> list[str]:
    answer = account.autoscaling.describe_scheduled_actions(AutoScalingGroupName="group")
    return sorted(each["ScheduledActionName"] for each in answer["ScheduledUpdateGroupActions"])


def test_scheduled_actions_run_once_when_their_time_comes(account: Account, backend: Any) -> None:
    # D9: scale up at the start of a block, and down before its end
    account.autoscaling_group("group", plain_template(account), DesiredCapacity=0)
    put_action(account, "up", timedelta(hours=1), MinSize=2, DesiredCapacity=2)
    put_action(account, "down", timedelta(hours=2), MinSize=0, DesiredCapacity=0)
    run_due_actions(backend)
    assert account.instances() == []
    CLOCK.advance(timedelta(minutes=61))
    run_due_actions(backend)
    assert len(account.instances()) == 2
    assert scheduled(account) == ["down"]
    CLOCK.advance(timedelta(hours=1))
    run_due_actions(backend)
    assert account.instances() == []
    assert scheduled(account) == []


def test_scheduled_actions_belong_to_their_group(account: Account) -> None:
    account.autoscaling_group("group", plain_template(account), DesiredCapacity=0)
    account.autoscaling_group("other", plain_template(account, "o"), DesiredCapacity=0)
    put_action(account, "up", timedelta(hours=1), DesiredCapacity=2)
    account.autoscaling.put_scheduled_update_group_action(
        AutoScalingGroupName="other",
        ScheduledActionName="up",
        DesiredCapacity=1,
        StartTime=CLOCK.now() + timedelta(hours=1),
    )
    account.autoscaling.delete_scheduled_action(
        AutoScalingGroupName="other", ScheduledActionName="up"
    )
    assert scheduled(account) == ["up"]
    account.autoscaling.delete_auto_scaling_group(AutoScalingGroupName="group")
    assert account.autoscaling.describe_scheduled_actions()["ScheduledUpdateGroupActions"] == []


def test_a_scheduled_action_in_the_past_or_of_no_group_is_refused(account: Account) -> None:
    with refused("ValidationError", "'group' not found"):
        put_action(account, "up", timedelta(hours=1), DesiredCapacity=2)
    account.autoscaling_group("group", plain_template(account), DesiredCapacity=0)
    with refused("ValidationError", "past"):
        put_action(account, "up", timedelta(hours=-1), DesiredCapacity=2)


def test_the_instances_of_a_block_are_taken_away_before_its_end(
    account: Account, backend: Any
) -> None:
    account.autoscaling_group("p5", block_template(account, ENDING), DesiredCapacity=2)
    ec2 = ec2_backends[ACCOUNT]["us-west-2"]
    assert end_of_capacity(ec2, backend) == []
    CLOCK.advance(timedelta(minutes=6))
    assert len(end_of_capacity(ec2, backend)) == 2
    assert account.instances() == []
    assert "ReservationCapacityExceeded" in activities(account, "p5")[0]["StatusMessage"]
