"""Scaling activities: the actions of a group and the reasons for failures.

https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_Activity.html
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.errors import code_and_message
from trainyard.sandbox.aws.state import state_of

_KEPT = 100
"""Maximum number of activities in memory; a group that cannot launch keeps retrying."""


@dataclass(kw_only=True)
class ScalingActivity:
    """An activity, with the field names that the serializer expects."""

    activity_id: str
    auto_scaling_group_name: str
    auto_scaling_group_arn: str
    description: str
    cause: str
    start_time: datetime
    end_time: datetime
    status_code: str
    status_message: str | None = None
    progress: int = 100
    details: str = "{}"
    """The place of the instance, as JSON."""


class ScalingActivities(list[ScalingActivity]):
    """The activities of one account and region, newest first, as the API lists them."""


def activities_of(autoscaling: Any) -> ScalingActivities:
    """Return the activities of an Auto Scaling backend."""
    return state_of(autoscaling, ScalingActivities)


def record_launch(group: Any, instance: Any) -> None:
    """Record that a group launched an instance."""
    description = f"Launching a new EC2 instance: {instance.id}"
    _record(group, description, "Successful", None, instance.subnet_id)


def record_termination(group: Any, instance: Any) -> None:
    """Record that a group terminated an instance."""
    _record(
        group, f"Terminating EC2 instance: {instance.id}", "Successful", None, instance.subnet_id
    )


def record_failure(group: Any, error: Exception, subnet_id: str | None) -> None:
    """Record a failed launch in a subnet; a repeated failure only changes the end time."""
    code, message = code_and_message(error)
    status = (
        f"Could not launch On-Demand Instances. {code} - {message.rstrip('.')}. "
        "Launching EC2 instance failed."
    )
    latest = next(
        (each for each in activities_of(group.autoscaling_backend) if _is_of(each, group)), None
    )
    if latest is not None and latest.status_message == status:
        latest.end_time = CLOCK.now()
        return
    description = f"Launching a new EC2 instance.  Status Reason: {status}"
    _record(group, description, "Failed", status, subnet_id)


def _is_of(activity: ScalingActivity, group: Any) -> bool:
    return activity.auto_scaling_group_arn == group.arn


def _details(group: Any, subnet_id: str | None) -> str:
    """Return the details of an activity, as real accounts answer them.

    https://docs.aws.amazon.com/autoscaling/ec2/userguide/detach-instance-asg.html
    """
    if subnet_id is None:
        return "{}"
    zone = group.ec2_backend.get_subnet(subnet_id).availability_zone
    place = {"Subnet ID": subnet_id, "Availability Zone": zone}
    return json.dumps(place, separators=(",", ":"))


def _record(
    group: Any,
    description: str,
    status_code: str,
    status_message: str | None,
    subnet_id: str | None,
) -> None:
    now = CLOCK.now()
    activities = activities_of(group.autoscaling_backend)
    activities.insert(
        0,
        ScalingActivity(
            activity_id=str(mock_random.uuid4()),
            auto_scaling_group_name=group.name,
            auto_scaling_group_arn=group.arn,
            description=description,
            cause=(
                f"At {now:%Y-%m-%dT%H:%M:%SZ} the group had {len(group.instance_states)} instances "
                f"and a desired capacity of {group.desired_capacity}."
            ),
            start_time=now,
            end_time=now,
            status_code=status_code,
            status_message=status_message,
            details=_details(group, subnet_id),
        ),
    )
    del activities[_KEPT:]
