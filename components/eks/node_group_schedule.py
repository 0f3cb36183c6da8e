"""Scheduled scaling of a node group in a Capacity Block.

Source: https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-scheduled-scaling.html
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import pulumi
import pulumi_aws as aws

from trainyard.components.capacity.plan import SchedulePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroupScheduleArgs:
    """Arguments of `NodeGroupSchedule`."""

    group_name: pulumi.Input[str]
    """Name of the Auto Scaling group."""
    schedule: SchedulePlan


class NodeGroupSchedule(pulumi.ComponentResource):
    """Adds nodes when a Capacity Block starts and removes them 40 minutes before it ends.

    EC2 starts to terminate the instances of a block 30 minutes before its end, even under load.
    For UltraServers both are 30 minutes earlier.

    Children: `<name>-up` and `<name>-down` (`aws.autoscaling.Schedule`), if planned.
    """

    def __init__(
        self,
        name: str,
        args: NodeGroupScheduleArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:eks:NodeGroupSchedule", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.schedule

        if plan.scale_up_at is not None:
            aws.autoscaling.Schedule(
                f"{name}-up",
                autoscaling_group_name=args.group_name,
                scheduled_action_name="capacity-block-start",
                start_time=_aws_time(plan.scale_up_at),
                min_size=plan.scale_up_minimum,
                desired_capacity=plan.scale_up_desired,
                max_size=plan.maximum,
                opts=child,
            )
        if plan.scale_down_at is not None:
            aws.autoscaling.Schedule(
                f"{name}-down",
                autoscaling_group_name=args.group_name,
                scheduled_action_name="capacity-block-end",
                start_time=_aws_time(plan.scale_down_at),
                min_size=0,
                desired_capacity=0,
                max_size=plan.maximum,
                opts=child,
            )
        self.register_outputs({})


def _aws_time(moment: datetime) -> str:
    # Auto Scaling takes whole seconds with a `Z`, not an offset.
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
