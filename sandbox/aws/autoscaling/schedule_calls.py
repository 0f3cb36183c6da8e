"""The calls on scheduled actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.core.responses import ActionResult, EmptyResult
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.autoscaling.group_calls import GroupCalls, refuse
from trainyard.sandbox.aws.autoscaling.schedules import ScheduledAction, moment, schedules_of
from trainyard.sandbox.aws.clock import CLOCK


class ScheduleCalls(GroupCalls):
    """Calls on scheduled actions; mixed into the Auto Scaling response class."""

    def put_scheduled_update_group_action(self) -> EmptyResult:
        """PutScheduledUpdateGroupAction."""
        self._put(self.params["AutoScalingGroupName"], self.params)
        return EmptyResult()

    def batch_put_scheduled_update_group_action(self) -> ActionResult:
        """BatchPutScheduledUpdateGroupAction: rejected, because moto would store the actions."""
        raise NotImplementedError("scheduled actions are created one by one")

    def describe_scheduled_actions(self) -> ActionResult:
        """DescribeScheduledActions."""
        group, names = (
            self.params.get("AutoScalingGroupName"),
            self.params.get("ScheduledActionNames"),
        )
        return ActionResult(
            {
                "ScheduledUpdateGroupActions": [
                    action
                    for action in schedules_of(self.autoscaling_backend).by_name.values()
                    if group in (None, action.auto_scaling_group_name)
                    and (not names or action.scheduled_action_name in names)
                ]
            }
        )

    def delete_scheduled_action(self) -> EmptyResult:
        """DeleteScheduledAction."""
        self._delete(self.params["AutoScalingGroupName"], self.params["ScheduledActionName"])
        return EmptyResult()

    def batch_delete_scheduled_action(self) -> ActionResult:
        """BatchDeleteScheduledAction: like BatchPutScheduledUpdateGroupAction."""
        raise NotImplementedError("scheduled actions are deleted one by one")

    def _put(self, group_name: str, asked: Mapping[str, Any]) -> None:
        self._group(group_name)
        name = asked["ScheduledActionName"]
        start = moment(asked.get("StartTime") or asked.get("Time"))
        end = moment(asked.get("EndTime"))
        if start is not None and start <= CLOCK.now():
            refuse("Given start time is in the past")
        if start is not None and end is not None and end <= start:
            refuse("Given end time is before the start time")
        sizes = [asked.get(key) for key in ("MinSize", "MaxSize", "DesiredCapacity")]
        if all(size is None for size in sizes):
            refuse(
                "At least one of MinSize, MaxSize and DesiredCapacity must be specified for a "
                "scheduled action"
            )
        schedules = schedules_of(self.autoscaling_backend)
        known = schedules.by_name.get((group_name, name))
        schedules.by_name[group_name, name] = ScheduledAction(
            auto_scaling_group_name=group_name,
            scheduled_action_name=name,
            scheduled_action_arn=known.scheduled_action_arn
            if known
            else self._action_arn(group_name, name),
            start_time=start,
            end_time=end,
            recurrence=asked.get("Recurrence"),
            time_zone=asked.get("TimeZone"),
            min_size=sizes[0],
            max_size=sizes[1],
            desired_capacity=sizes[2],
        )

    def _delete(self, group_name: str, name: str) -> None:
        schedules = schedules_of(self.autoscaling_backend)
        if schedules.by_name.pop((group_name, name), None) is None:
            refuse("Scheduled action name not found")

    def _action_arn(self, group_name: str, name: str) -> str:
        return (
            f"arn:{self.partition}:autoscaling:{self.region}:{self.current_account}:"
            f"scheduledUpdateGroupAction:{mock_random.uuid4()}:autoScalingGroupName/{group_name}:"
            f"scheduledActionName/{name}"
        )
