"""TerminateInstanceInAutoScalingGroup, with the message of Auto Scaling for an unknown instance.

https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_TerminateInstanceInAutoScalingGroup.html
https://github.com/yaybu/touchdown/issues/51
"""

from __future__ import annotations

from typing import Any

from moto.autoscaling.models import TerminateInstanceActivity
from moto.core.responses import ActionResult

from trainyard.sandbox.aws.autoscaling.group_calls import refuse
from trainyard.sandbox.aws.autoscaling.hook_calls import HookCalls


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
