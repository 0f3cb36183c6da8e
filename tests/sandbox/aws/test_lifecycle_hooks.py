"""Lifecycle hooks of Auto Scaling groups."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.sandbox_aws import STANDARD_IMAGE, Account, refused

HOOK: dict[str, Any] = {
    "AutoScalingGroupName": "g",
    "LifecycleHookName": "drain",
    "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING",
}


@pytest.fixture
def group(account: Account) -> Account:
    template = account.template("t", ImageId=STANDARD_IMAGE, InstanceType="c5.2xlarge")
    account.autoscaling_group("g", template, DesiredCapacity=0)
    return account


def hooks(account: Account) -> list[dict[str, Any]]:
    described = account.autoscaling.describe_lifecycle_hooks(AutoScalingGroupName="g")
    return described["LifecycleHooks"]


def test_a_hook_comes_changes_and_goes(group: Account) -> None:
    group.autoscaling.put_lifecycle_hook(**HOOK, DefaultResult="CONTINUE", HeartbeatTimeout=300)
    assert hooks(group) == [
        {**HOOK, "DefaultResult": "CONTINUE", "HeartbeatTimeout": 300, "GlobalTimeout": 30000}
    ]
    group.autoscaling.put_lifecycle_hook(**HOOK, HeartbeatTimeout=60)
    assert [(h["DefaultResult"], h["HeartbeatTimeout"]) for h in hooks(group)] == [("CONTINUE", 60)]
    by_name = {key: HOOK[key] for key in ("AutoScalingGroupName", "LifecycleHookName")}
    group.autoscaling.delete_lifecycle_hook(**by_name)
    assert hooks(group) == []
    with refused("ValidationError", "drain"):
        group.autoscaling.delete_lifecycle_hook(**by_name)


def test_without_values_a_hook_waits_an_hour_and_gives_up(group: Account) -> None:
    group.autoscaling.put_lifecycle_hook(**HOOK)
    (hook,) = hooks(group)
    assert (hook["HeartbeatTimeout"], hook["DefaultResult"]) == (3600, "ABANDON")


@pytest.mark.parametrize(
    "change",
    [
        {"HeartbeatTimeout": 29},
        {"HeartbeatTimeout": 7201},
        {"LifecycleTransition": "autoscaling:EC2_INSTANCE_LAUNCH"},
        {"AutoScalingGroupName": "nobody"},
    ],
)
def test_what_auto_scaling_refuses_is_refused(group: Account, change: dict[str, Any]) -> None:
    with refused("ValidationError"):
        group.autoscaling.put_lifecycle_hook(**{**HOOK, **change})


def test_hooks_go_with_their_group(group: Account) -> None:
    group.autoscaling.put_lifecycle_hook(**HOOK)
    group.autoscaling.delete_auto_scaling_group(AutoScalingGroupName="g", ForceDelete=True)
    template = group.template("t2", ImageId=STANDARD_IMAGE, InstanceType="c5.2xlarge")
    group.autoscaling_group("g", template, DesiredCapacity=0)
    assert hooks(group) == []
