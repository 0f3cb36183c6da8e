"""Time to drain a node before Auto Scaling terminates it."""

from datetime import timedelta

import pulumi_aws as aws

from trainyard.components.eks.cluster_services import (
    HEARTBEAT_SECONDS,
    TerminationHook,
    TerminationHookArgs,
)


def test_an_instance_waits_and_is_terminated_in_the_end(deploy):
    """EKN-16: without a hook, the instance metadata never announces the termination."""

    def program():
        args = TerminationHookArgs(
            group_name="p5-nodes", drained_by=aws.ec2.SecurityGroup("handler")
        )
        TerminationHook("p5", args)

    cloud = deploy(program)
    hook = cloud.one("p5-hook")
    assert hook.inputs == {
        "name": "drain-before-termination",
        "autoscalingGroupName": "p5-nodes",
        "lifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING",
        "defaultResult": "CONTINUE",
        "heartbeatTimeout": HEARTBEAT_SECONDS,
    }
    assert cloud.one("handler").urn in hook.dependencies
    assert hook.parent in cloud.closed


def test_the_wait_ends_before_ec2_takes_a_capacity_block():
    """Scale in 40 minutes before the end; EC2 terminates instances from 30 minutes before it."""
    handler_drains = timedelta(seconds=2 + 120)
    assert handler_drains < timedelta(seconds=HEARTBEAT_SECONDS) < timedelta(minutes=40 - 30)
