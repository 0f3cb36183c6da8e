"""The calls on groups, their instances, lifecycle hooks and scheduled actions."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NoReturn

from dateutil.parser import isoparse
from moto.autoscaling.exceptions import AutoscalingClientError
from moto.autoscaling.models import TerminateInstanceActivity
from moto.autoscaling.responses import AutoScalingResponse
from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, EmptyResult
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.autoscaling.groups import GROUP_TYPE, activities_of
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.launch_request import merge
from trainyard.sandbox.aws.ec2.launches import check_request
from trainyard.sandbox.aws.errors import code_and_message
from trainyard.sandbox.aws.state import state_of
from trainyard.sandbox.aws.transitions import TRANSITIONS

# Scheduled actions of Auto Scaling groups.
#
# One-time actions run when they are due and are then deleted, as in AWS. Recurring actions are
# stored and described but never run, because a sandbox does not live that long.
# https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-scheduled-scaling.html


LOG = logging.getLogger("sandbox.autoscaling")


@dataclass(kw_only=True)
class ScheduledAction:
    """An action, with the field names that the serializer expects."""

    auto_scaling_group_name: str
    scheduled_action_name: str
    scheduled_action_arn: str
    start_time: datetime | None
    end_time: datetime | None
    recurrence: str | None
    time_zone: str | None
    min_size: int | None
    max_size: int | None
    desired_capacity: int | None


@dataclass
class Schedules:
    """The scheduled actions of an account and region, by group and name."""

    by_name: dict[tuple[str, str], ScheduledAction] = field(default_factory=dict)

    def forget(self, group_name: str) -> None:
        """Drop the actions of a group."""
        for key in [key for key in self.by_name if key[0] == group_name]:
            del self.by_name[key]


def schedules_of(autoscaling: Any) -> Schedules:
    """Return the scheduled actions of an Auto Scaling backend."""
    return state_of(autoscaling, Schedules)


def moment(value: str | datetime | None) -> datetime | None:
    """Return a request's time as an aware datetime; without a time zone it is UTC, as in AWS."""
    if value is None:
        return None
    time = isoparse(value) if isinstance(value, str) else value
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def run_due_actions(autoscaling: Any) -> None:
    """Run all one-time actions that are due."""
    now = CLOCK.now()
    schedules = schedules_of(autoscaling)
    due = [
        action
        for action in schedules.by_name.values()
        if action.recurrence is None and action.start_time and action.start_time <= now
    ]
    for action in sorted(due, key=lambda each: each.start_time or now):
        del schedules.by_name[action.auto_scaling_group_name, action.scheduled_action_name]
        group = autoscaling.autoscaling_groups.get(action.auto_scaling_group_name)
        if group is not None:
            LOG.info("%s: %s", group.name, action.scheduled_action_name)
            _apply(group, action)


def _apply(group: Any, action: ScheduledAction) -> None:
    if action.min_size is not None:
        group.min_size = action.min_size
    if action.max_size is not None:
        group.max_size = action.max_size
    desired = group.desired_capacity
    if action.desired_capacity is not None:
        desired = action.desired_capacity
    group.set_desired_capacity(min(max(desired, group.min_size), group.max_size))


_KEPT = {
    "DefaultCooldown": "default_cooldown",
    "PlacementGroup": "placement_group",
    "TerminationPolicies": "termination_policies",
    "DefaultInstanceWarmup": "default_instance_warmup",
    "MaxInstanceLifetime": "max_instance_lifetime",
    "InstanceMaintenancePolicy": "instance_maintenance_policy",
    "DesiredCapacityType": "desired_capacity_type",
    "CapacityRebalance": "capacity_rebalance",
    "AvailabilityZoneDistribution": "availability_zone_distribution",
    "CapacityReservationSpecification": "capacity_reservation_specification",
}
"""Parameters that moto drops on create or update, with the attribute that describes them."""


def refuse(message: str, code: str = "ValidationError") -> NoReturn:
    """Respond with an Auto Scaling error.

    Raises:
        AutoscalingClientError: always.
    """
    raise AutoscalingClientError(code, message)


class GroupCalls(AutoScalingResponse):
    """Calls on groups; mixed into the Auto Scaling response class."""

    def create_auto_scaling_group(self) -> ActionResult:
        """CreateAutoScalingGroup; rejects a template that EC2 would reject."""
        parameters: Mapping[str, Any] = self.params
        name = parameters["AutoScalingGroupName"]
        if parameters.get("LaunchConfigurationName") or parameters.get("InstanceId"):
            raise NotImplementedError("groups are launched from launch templates only")
        if name in self.autoscaling_backend.autoscaling_groups:
            refuse(
                "AutoScalingGroup by this name already exists - A group with the name "
                f"{name} already exists",
                "AlreadyExists",
            )
        _check_sizes(
            parameters["MinSize"],
            parameters["MaxSize"],
            parameters.get("DesiredCapacity", parameters["MinSize"]),
        )
        self._check_template(parameters)
        result = super().create_auto_scaling_group()
        self._keep(parameters)
        return result

    def update_auto_scaling_group(self) -> ActionResult:
        """UpdateAutoScalingGroup."""
        parameters: Mapping[str, Any] = self.params
        group = self._group(parameters["AutoScalingGroupName"])
        minimum = parameters.get("MinSize", group.min_size)
        maximum = parameters.get("MaxSize", group.max_size)
        desired = parameters.get("DesiredCapacity")
        # Without a desired capacity, Auto Scaling moves it into the new limits.
        within = min(max(group.desired_capacity, minimum), maximum)
        _check_sizes(minimum, maximum, within if desired is None else desired)
        self._check_template({"VPCZoneIdentifier": group.vpc_zone_identifier, **parameters})
        if parameters.get("LaunchTemplate") is None and group.mixed_instances_policy:
            self.params.setdefault("MixedInstancesPolicy", group.mixed_instances_policy)
        if desired is None and within != group.desired_capacity:
            self.params["DesiredCapacity"] = within
        result = super().update_auto_scaling_group()
        self._keep(parameters)
        group.reconcile()
        return result

    def delete_auto_scaling_group(self) -> ActionResult:
        """DeleteAutoScalingGroup: requires force if it has instances; deletes its schedules."""
        name = self.params["AutoScalingGroupName"]
        group = self._group(name)
        if group.instance_states and not self.params.get("ForceDelete"):
            refuse(
                "You cannot delete an AutoScalingGroup while there are instances or pending Spot "
                "instance request(s) still in the group.",
                "ResourceInUse",
            )
        group.min_size = 0
        for state in group.instance_states:
            state.protected_from_scale_in = False
        result = super().delete_auto_scaling_group()
        schedules_of(self.autoscaling_backend).forget(name)
        groups = self.autoscaling_backend.autoscaling_groups
        group.status = "Delete in progress"
        groups[name] = group
        TRANSITIONS.begin(GROUP_TYPE, "delete", lambda: groups.pop(name, None))
        return result

    def set_desired_capacity(self) -> ActionResult:
        """SetDesiredCapacity."""
        group = self._group(self.params["AutoScalingGroupName"])
        _check_sizes(group.min_size, group.max_size, self.params["DesiredCapacity"])
        return super().set_desired_capacity()

    def describe_scaling_activities(self) -> ActionResult:
        """DescribeScalingActivities, newest first."""
        name, ids = self.params.get("AutoScalingGroupName"), self.params.get("ActivityIds")
        return ActionResult(
            {
                "Activities": [
                    each
                    for each in activities_of(self.autoscaling_backend)
                    if name in (None, each.auto_scaling_group_name)
                    and (not ids or each.activity_id in ids)
                ]
            }
        )

    def _group(self, name: str) -> Any:
        groups = self.autoscaling_backend.autoscaling_groups
        if name not in groups:
            refuse(f"AutoScalingGroup name not found - AutoScalingGroup '{name}' not found")
        return groups[name]

    def _keep(self, parameters: Mapping[str, Any]) -> None:
        group = self._group(parameters["AutoScalingGroupName"])
        for name, attribute in _KEPT.items():
            if parameters.get(name) is not None:
                setattr(group, attribute, parameters[name])

    def _check_template(self, parameters: Mapping[str, Any]) -> None:
        mixed = (parameters.get("MixedInstancesPolicy") or {}).get("LaunchTemplate") or {}
        template = parameters.get("LaunchTemplate") or mixed.get("LaunchTemplateSpecification")
        if not template:
            return
        subnets = (parameters.get("VPCZoneIdentifier") or "").split(",")
        overrides = mixed.get("Overrides") or [{}]
        ec2 = self.autoscaling_backend.ec2_backend
        request = {"LaunchTemplate": template, "InstanceType": overrides[0].get("InstanceType")}
        try:
            check_request(ec2, merge(ec2, request, subnet_id=subnets[0] or None))
        except ServiceException as error:
            _, message = code_and_message(error)
            refuse(f"You must use a valid fully-formed launch template. {message}")


def _check_sizes(minimum: int, maximum: int, desired: int) -> None:
    if minimum > maximum:
        refuse(f"Max bound, {maximum}, must be greater than or equal to min bound, {minimum}")
    if not minimum <= desired <= maximum:
        refuse(
            f"Desired capacity:{desired} must be between the specified min size:{minimum} and max "
            f"size:{maximum}"
        )


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


# The calls on lifecycle hooks.
#
# https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_PutLifecycleHook.html
#
# Hooks are stored and described, but the sandbox's instances do not wait for them: pods of a
# simulated node have no work to finish, so the wait of five minutes would have no effect.


_TRANSITIONS = ("autoscaling:EC2_INSTANCE_LAUNCHING", "autoscaling:EC2_INSTANCE_TERMINATING")
_SHORTEST_SECONDS, _LONGEST_SECONDS = 30, 7200
_DEFAULT_SECONDS = 3600
_GLOBAL_TIMEOUT_SECONDS = 172800


class LifecycleHooks(dict[tuple[str, str], dict[str, Any]]):
    """The hooks of an account and region, by group and name, as in DescribeLifecycleHooks."""


class HookCalls(ScheduleCalls):
    """Calls on lifecycle hooks; mixed into the Auto Scaling response class."""

    def put_lifecycle_hook(self) -> EmptyResult:
        """PutLifecycleHook: creates a hook, or changes the given fields."""
        parameters: Mapping[str, Any] = self.params
        group, name = parameters["AutoScalingGroupName"], parameters["LifecycleHookName"]
        self._group(group)
        former = self._hooks.get((group, name), {})
        transition = parameters.get("LifecycleTransition", former.get("LifecycleTransition"))
        seconds = parameters.get(
            "HeartbeatTimeout", former.get("HeartbeatTimeout", _DEFAULT_SECONDS)
        )
        if transition not in _TRANSITIONS:
            refuse("Valid LifecycleTransition is required when creating a new lifecycle hook.")
        if not _SHORTEST_SECONDS <= seconds <= _LONGEST_SECONDS:
            refuse(
                f"Heartbeat timeout must be between {_SHORTEST_SECONDS} and {_LONGEST_SECONDS} "
                "seconds."
            )
        self._hooks[group, name] = {
            "LifecycleHookName": name,
            "AutoScalingGroupName": group,
            "LifecycleTransition": transition,
            "HeartbeatTimeout": seconds,
            "GlobalTimeout": min(_GLOBAL_TIMEOUT_SECONDS, 100 * seconds),
            "DefaultResult": parameters.get(
                "DefaultResult", former.get("DefaultResult", "ABANDON")
            ),
        }
        return EmptyResult()

    def describe_lifecycle_hooks(self) -> ActionResult:
        """DescribeLifecycleHooks of one group."""
        group, names = self.params["AutoScalingGroupName"], self.params.get("LifecycleHookNames")
        self._group(group)
        found = [
            hook
            for (of, name), hook in self._hooks.items()
            if of == group and (not names or name in names)
        ]
        return ActionResult({"LifecycleHooks": found})

    def delete_lifecycle_hook(self) -> EmptyResult:
        """DeleteLifecycleHook."""
        group, name = self.params["AutoScalingGroupName"], self.params["LifecycleHookName"]
        self._group(group)
        if (group, name) not in self._hooks:
            refuse(f"No Lifecycle Hook found for Auto Scaling group {group}: {name}")
        del self._hooks[group, name]
        return EmptyResult()

    def delete_auto_scaling_group(self) -> ActionResult:
        """DeleteAutoScalingGroup: also deletes its hooks."""
        result = super().delete_auto_scaling_group()
        name = self.params["AutoScalingGroupName"]
        for key in [each for each in self._hooks if each[0] == name]:
            del self._hooks[key]
        return result

    @property
    def _hooks(self) -> LifecycleHooks:
        return state_of(self.autoscaling_backend, LifecycleHooks)


# TerminateInstanceInAutoScalingGroup, with the message of Auto Scaling for an unknown instance.
#
# https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_TerminateInstanceInAutoScalingGroup.html
# https://github.com/yaybu/touchdown/issues/51


class InstanceCalls(HookCalls):
    """Calls on instances of groups; mixed into the Auto Scaling response class."""

    def terminate_instance_in_auto_scaling_group(self) -> ActionResult:
        """TerminateInstanceInAutoScalingGroup of one instance, which the group replaces.

        The instance is terminated before its replacement launches, into the capacity that it frees.
        """
        instance_id = self.params.get("InstanceId")
        if not instance_id or self.params.get("ShouldDecrementDesiredCapacity"):
            raise NotImplementedError("one InstanceId, without a decrement of the desired capacity")
        group = self._group_of(instance_id)
        instance = self.autoscaling_backend.ec2_backend.get_instance(instance_id)
        activity = TerminateInstanceActivity(instance, group.desired_capacity)
        group.replace(instance_id)
        return ActionResult({"Activity": activity})

    def _group_of(self, instance_id: str) -> Any:
        groups = self.autoscaling_backend.autoscaling_groups.values()
        held = (g for g in groups if instance_id in [s.instance.id for s in g.instance_states])
        return next(held, None) or refuse(
            f"Instance Id not found - No managed instance found for instance ID {instance_id}"
        )
