"""A lifecycle hook that gives self-managed nodes time to drain before termination.

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
"""The same time that EKS gives a node of a managed group. The handler polls the metadata every 2
seconds and gives pods 120 seconds, so the drain ends well before. Nodes of a Capacity Block are
scaled in 40 minutes before its end, and EC2 terminates them from 30 minutes on: 5 minutes fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminationHookArgs:
    """Arguments of `TerminationHook`."""

    group_name: pulumi.Input[str]
    """Name of the Auto Scaling group."""
    drained_by: pulumi.Resource
    """The resource that drains the nodes; without it the hook would only delay termination."""


class TerminationHook(pulumi.ComponentResource):
    """A lifecycle hook that delays the termination of an instance by five minutes.

    While the instance waits, its metadata report the target lifecycle state `Terminated`, which the
    node termination handler watches for. The wait always runs to its end: in its metadata mode the
    handler has no AWS permissions.

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
