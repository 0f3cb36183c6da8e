"""Stack outputs of a Slurm cluster: login commands and the log group."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from components.catalog.parallelcluster import DEFAULT_USERS
from components.parallelcluster.plan import ParallelClusterPlan

LOG_GROUP_PARAMETER = "ClusterCWLogGroup"
"""Parameter of ParallelCluster's CloudFormation stack with the name of the log group. The name ends
with the creation time in minutes and cannot be derived otherwise.
https://github.com/aws/aws-parallelcluster/blob/develop/cli/src/pcluster/constants.py"""


def login_commands(
    plan: ParallelClusterPlan, outputs: pulumi.Output[Mapping[str, str]]
) -> dict[str, pulumi.Input[object]]:
    """Return the commands that open a shell on the head node; None for unavailable methods.

    SSH needs a key, an address and an open port; Session Manager needs none of them.
    """
    head_node = plan.head_node
    session = pulumi.Output.concat(
        "aws ssm start-session --target ", outputs["HeadNodeInstanceId"], " --region ", plan.region
    )
    has_key = head_node.key_name is not None or head_node.public_key is not None
    if not (has_key and head_node.public and head_node.allowed_cidr is not None):
        return {"ssh_command": None, "ssm_command": session}
    user = DEFAULT_USERS[plan.operating_system]
    ssh = pulumi.Output.concat("ssh ", user, "@", outputs["HeadNodePublicIp"])
    return {"ssh_command": ssh, "ssm_command": session}


def log_group(
    plan: ParallelClusterPlan,
    outputs: pulumi.Output[Mapping[str, str]],
    parent: pulumi.Resource,
) -> pulumi.Input[str | None]:
    """Return the name of the cluster's log group, from ParallelCluster's CloudFormation stack."""
    if not plan.monitoring.logs:
        return None
    found = aws.cloudformation.get_stack_output(
        # The stack output ensures that the cluster exists before the lookup.
        name=outputs["ClusterName"],
        region=plan.region,
        opts=pulumi.InvokeOutputOptions(parent=parent),
    )
    return found.parameters.apply(lambda parameters: parameters.get(LOG_GROUP_PARAMETER))
