"""Auto Scaling groups and their scheduled actions.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/autoscaling/group/
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from sandbox.providers._protocol.servicer import ProviderError
from sandbox.providers.aws.account import Account
from sandbox.providers.aws.resource import ResourceType, Values
from sandbox.providers.aws.retries import says, until_propagated

POLL_SECONDS = 0.2
DEADLINE_SECONDS = 60
"""The sandbox launches at once; in a real account the official provider waits ten minutes."""

_PROFILE_IS_NEW = says("ValidationError", "Invalid IAM Instance Profile")
"""As `resourceGroupCreate` in `internal/service/autoscaling/group.go` of the official provider."""


def _template(inputs: Values) -> dict[str, str]:
    template = inputs["launchTemplate"]
    key = {"id": "LaunchTemplateId", "name": "LaunchTemplateName", "version": "Version"}
    return {key[name]: str(value) for name, value in template.items()}


def _tags(name: str, inputs: Values) -> list[dict[str, Any]]:
    return [
        {
            "ResourceId": name,
            "ResourceType": "auto-scaling-group",
            "Key": tag["key"],
            "Value": tag["value"],
            "PropagateAtLaunch": tag["propagateAtLaunch"],
        }
        for tag in inputs.get("tags", [])
    ]


def _sizes(inputs: Values) -> dict[str, int]:
    desired = inputs.get("desiredCapacity", inputs["minSize"])
    return {
        "MinSize": inputs["minSize"],
        "MaxSize": inputs["maxSize"],
        "DesiredCapacity": desired,
    }


def _create(account: Account, inputs: Values) -> tuple[str, Values]:
    name = inputs["name"]
    client = account.client("autoscaling")
    given = {
        "AutoScalingGroupName": name,
        "LaunchTemplate": _template(inputs),
        "VPCZoneIdentifier": ",".join(inputs["vpcZoneIdentifiers"]),
        "HealthCheckType": inputs["healthCheckType"],
        "HealthCheckGracePeriod": inputs["healthCheckGracePeriod"],
        "Tags": _tags(name, inputs),
        **_sizes(inputs),
    }
    until_propagated(lambda: client.create_auto_scaling_group(**given), _PROFILE_IS_NEW)
    return name, {}


def _wait_for_capacity(
    account: Account, name: str, inputs: Values, known_failures: frozenset[str] = frozenset()
) -> None:
    if inputs["waitForCapacityTimeout"] in {"0", "0s"}:
        return
    client = account.client("autoscaling")
    wanted = _sizes(inputs)["DesiredCapacity"]
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        groups = client.describe_auto_scaling_groups(AutoScalingGroupNames=[name])
        if not groups["AutoScalingGroups"]:
            time.sleep(POLL_SECONDS)  # new, and not shown yet
            continue
        group = groups["AutoScalingGroups"][0]
        states = [instance["LifecycleState"] for instance in group["Instances"]]
        if states.count("InService") >= wanted:
            return
        failures = _failures(client, name)
        if failures.keys() - known_failures:
            raise ProviderError(
                f"waiting for {wanted} instances in service, {states.count('InService')} are: "
                + "; ".join(said for key, said in failures.items() if key not in known_failures)
            )
        time.sleep(POLL_SECONDS)
    raise ProviderError(f"{wanted} instances were not in service after {DEADLINE_SECONDS} s")


def _failures(client: Any, name: str) -> dict[str, str]:
    activities = client.describe_scaling_activities(AutoScalingGroupName=name)["Activities"]
    return {
        a["ActivityId"]: f"Scaling activity ({a['ActivityId']}): Failed: {a.get('StatusMessage')}"
        for a in activities
        if a["StatusCode"] == "Failed"
    }


def _read(account: Account, name: str) -> Values | None:
    answer = account.client("autoscaling").describe_auto_scaling_groups(
        AutoScalingGroupNames=[name]
    )
    if not answer["AutoScalingGroups"]:
        return None
    group = answer["AutoScalingGroups"][0]
    template = group["LaunchTemplate"]
    return {
        "arn": group["AutoScalingGroupARN"],
        "name": name,
        "minSize": group["MinSize"],
        "maxSize": group["MaxSize"],
        "desiredCapacity": group["DesiredCapacity"],
        "vpcZoneIdentifiers": [s for s in group["VPCZoneIdentifier"].split(",") if s],
        "availabilityZones": group["AvailabilityZones"],
        "healthCheckType": group["HealthCheckType"],
        "healthCheckGracePeriod": group["HealthCheckGracePeriod"],
        "launchTemplate": {
            "id": template["LaunchTemplateId"],
            "version": template.get("Version"),
        },
        "tags": [
            {"key": t["Key"], "value": t["Value"], "propagateAtLaunch": t["PropagateAtLaunch"]}
            for t in group["Tags"]
        ]
        or None,
    }


def _update(account: Account, name: str, olds: Values, news: Values) -> None:
    client = account.client("autoscaling")
    # A group remembers the failures that this change may be the answer to.
    past_failures = frozenset(_failures(client, name))
    client.update_auto_scaling_group(
        AutoScalingGroupName=name,
        LaunchTemplate=_template(news),
        VPCZoneIdentifier=",".join(news["vpcZoneIdentifiers"]),
        HealthCheckType=news["healthCheckType"],
        HealthCheckGracePeriod=news["healthCheckGracePeriod"],
        **_sizes(news),
    )
    kept = {tag["key"] for tag in news.get("tags", [])}
    gone = [tag for tag in _tags(name, olds) if tag["Key"] not in kept]
    if gone:
        client.delete_tags(Tags=gone)
    if _tags(name, news):
        client.create_or_update_tags(Tags=_tags(name, news))
    _wait_for_capacity(account, name, news, past_failures)


def _delete(account: Account, name: str, outputs: Values) -> None:
    client = account.client("autoscaling")
    client.delete_auto_scaling_group(AutoScalingGroupName=name, ForceDelete=True)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while client.describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"]:
        if time.monotonic() > deadline:
            raise ProviderError(f"{name} is still there after {DEADLINE_SECONDS} s")
        time.sleep(POLL_SECONDS)


GROUP = ResourceType(
    token="aws:autoscaling/group:Group",
    inputs=frozenset(
        {
            "name",
            "minSize",
            "maxSize",
            "desiredCapacity",
            "vpcZoneIdentifiers",
            "launchTemplate",
            "healthCheckType",
            "healthCheckGracePeriod",
            "waitForCapacityTimeout",
            "tags",
        }
    ),
    required=frozenset({"minSize", "maxSize", "vpcZoneIdentifiers", "launchTemplate"}),
    computed=frozenset({"arn", "availabilityZones"}),
    replace_on=frozenset({"name"}),
    name_property="name",
    defaults={
        "healthCheckType": "EC2",
        "healthCheckGracePeriod": 300,
        "waitForCapacityTimeout": "10m",
    },
    create=_create,
    settle=_wait_for_capacity,
    read=_read,
    update=_update,
    delete=_delete,
)


def _put_schedule(account: Account, inputs: Values) -> tuple[str, Values]:
    times = {
        aws: datetime.fromisoformat(inputs[name])
        for name, aws in (("startTime", "StartTime"), ("endTime", "EndTime"))
        if name in inputs
    }
    sizes = {
        aws: inputs[name]
        for name, aws in (
            ("minSize", "MinSize"),
            ("maxSize", "MaxSize"),
            ("desiredCapacity", "DesiredCapacity"),
        )
        if name in inputs
    }
    account.client("autoscaling").put_scheduled_update_group_action(
        AutoScalingGroupName=inputs["autoscalingGroupName"],
        ScheduledActionName=inputs["scheduledActionName"],
        **times,
        **sizes,
    )
    return f"{inputs['autoscalingGroupName']}/{inputs['scheduledActionName']}", {}


def _update_schedule(account: Account, identifier: str, olds: Values, news: Values) -> None:
    _put_schedule(account, news)


def _read_schedule(account: Account, identifier: str) -> Values | None:
    group, _, name = identifier.partition("/")
    found = account.client("autoscaling").describe_scheduled_actions(
        AutoScalingGroupName=group, ScheduledActionNames=[name]
    )["ScheduledUpdateGroupActions"]
    if not found:
        return None
    action = found[0]
    return {
        "arn": action["ScheduledActionARN"],
        "autoscalingGroupName": group,
        "scheduledActionName": name,
        "minSize": action.get("MinSize"),
        "maxSize": action.get("MaxSize"),
        "desiredCapacity": action.get("DesiredCapacity"),
        "startTime": _time(action.get("StartTime")),
        "endTime": _time(action.get("EndTime")),
    }


def _time(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def _delete_schedule(account: Account, identifier: str, outputs: Values) -> None:
    group, _, name = identifier.partition("/")
    account.client("autoscaling").delete_scheduled_action(
        AutoScalingGroupName=group, ScheduledActionName=name
    )


SCHEDULE = ResourceType(
    token="aws:autoscaling/schedule:Schedule",
    inputs=frozenset(
        {
            "autoscalingGroupName",
            "scheduledActionName",
            "startTime",
            "endTime",
            "minSize",
            "maxSize",
            "desiredCapacity",
        }
    ),
    required=frozenset({"autoscalingGroupName", "scheduledActionName"}),
    computed=frozenset({"arn"}),
    replace_on=frozenset({"autoscalingGroupName", "scheduledActionName"}),
    create=_put_schedule,
    read=_read_schedule,
    update=_update_schedule,
    delete=_delete_schedule,
)

RESOURCE_TYPES = (GROUP, SCHEDULE)
