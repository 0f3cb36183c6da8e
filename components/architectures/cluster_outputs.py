"""What people ask of a Slurm cluster when it is up: how to get in, and where it logs."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from components.catalog.parallelcluster import DEFAULT_USERS
from components.parallelcluster.plan import ParallelClusterPlan

LOG_GROUP_PARAMETER = "ClusterCWLogGroup"
"""Parameter of ParallelCluster's own stack that holds the log group's name. The name ends in the
minute of the creation, so that nothing else tells it.
https://github.com/aws/aws-parallelcluster/blob/develop/cli/src/pcluster/constants.py"""


def login_commands(
    plan: ParallelClusterPlan, outputs: pulumi.Output[Mapping[str, str]]
) -> dict[str, pulumi.Input[object]]:
    """Return the commands that open a shell on the head node, None for a way there is not.

    SSH needs a key and an address; Session Manager needs neither.
    """
    head_node = plan.head_node
    session = pulumi.Output.concat(
        "aws ssm start-session --target ", outputs["HeadNodeInstanceId"], " --region ", plan.region
    )
    has_key = head_node.key_name is not None or head_node.public_key is not None
    if not (has_key and head_node.public):
        return {"ssh_command": None, "ssm_command": session}
    user = DEFAULT_USERS[plan.operating_system]
    ssh = pulumi.Output.concat("ssh ", user, "@", outputs["HeadNodePublicIp"])
    return {"ssh_command": ssh, "ssm_command": session}


def log_group(
    plan: ParallelClusterPlan,
    outputs: pulumi.Output[Mapping[str, str]],
    parent: pulumi.Resource,
) -> pulumi.Input[str | None]:
    """Return the name of the cluster's log group, read from ParallelCluster's own stack."""
    if not plan.monitoring.logs:
        return None
    found = aws.cloudformation.get_stack_output(
        # Of the stack's outputs, so that the cluster is there when it is asked for.
        name=outputs["ClusterName"],
        region=plan.region,
        opts=pulumi.InvokeOutputOptions(parent=parent),
    )
    return found.parameters.apply(lambda parameters: parameters.get(LOG_GROUP_PARAMETER))
