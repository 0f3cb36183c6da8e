"""Time to drain a node of a self-managed group before Auto Scaling terminates it.

Sources:
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/lifecycle-hooks.html
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/retrieving-target-lifecycle-state-through-imds.html
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks.html
"""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

HEARTBEAT_SECONDS = 300
"""What EKS too gives a node of a managed group. The handler looks at the metadata every 2 seconds
and gives pods 120 seconds, so that the drain has ended long before. A Capacity Block's nodes are
scaled in 40 minutes before its end and EC2 takes them from 30 minutes on: 5 minutes fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminationHookArgs:
    """Arguments of `TerminationHook`."""

    group_name: pulumi.Input[str]
    """Name of the Auto Scaling group."""
    drained_by: pulumi.Resource
    """What drains the nodes: a wait in which nobody does would only be a delay."""


class TerminationHook(pulumi.ComponentResource):
    """Keeps an instance that Auto Scaling takes away for five more minutes.

    With the hook, the instance metadata say `Terminated` as the target state while the instance
    waits, which is what the node termination handler looks for. Nobody ends the wait early: the
    handler in its metadata mode has no permission in AWS, and needs none.

    Children: `<name>-hook` (`aws.autoscaling.LifecycleHook`).
    """

    def __init__(
        self,
        name: str,
        args: TerminationHookArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:eks:TerminationHook", name, {}, opts)
        aws.autoscaling.LifecycleHook(
            f"{name}-hook",
            name="drain-before-termination",
            autoscaling_group_name=args.group_name,
            lifecycle_transition="autoscaling:EC2_INSTANCE_TERMINATING",
            default_result="CONTINUE",
            heartbeat_timeout=HEARTBEAT_SECONDS,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[args.drained_by]),
        )
        self.register_outputs({})
