"""The calls on lifecycle hooks.

https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_PutLifecycleHook.html

Hooks are stored and described, but the sandbox's instances do not wait for them: pods of a
simulated node have no work to finish, so the wait of five minutes would have no effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.core.responses import ActionResult, EmptyResult

from trainyard.sandbox.aws.autoscaling.group_calls import refuse
from trainyard.sandbox.aws.autoscaling.schedule_calls import ScheduleCalls
from trainyard.sandbox.aws.state import state_of

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
