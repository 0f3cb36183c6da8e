"""The IAM role of the containers of a job.

Source: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-iam-roles.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.identity.attached_policies import attach_policies, once_made
from components.naming import partition


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRoleArgs:
    """Arguments of `JobRole`."""

    policy_arns: Sequence[str]
    """ARNs of AWS managed policies; without any, the job has no permissions."""
    region: str
    """Region of the stack; only its tasks can assume the role."""
    tags: Mapping[str, str]


class JobRole(pulumi.ComponentResource):
    """A role that only ECS tasks of this account and region can assume.

    A job has a role even without permissions; otherwise it would get the credentials of the node.
    Jobs need no execution role: on EC2 the agent pulls images and writes logs with the node role.

    Children: `<name>-role` (`aws.iam.Role`), `<name>-<policy>` (`aws.iam.RolePolicyAttachment`) for
    each managed policy.
    """

    arn: pulumi.Output[str]
    """ARN of the role; resolves when every policy is attached."""

    def __init__(
        self, name: str, args: JobRoleArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:batch:JobRole", name, {}, opts)
        child, invoke = pulumi.ResourceOptions(parent=self), pulumi.InvokeOptions(parent=self)
        account_id = aws.get_caller_identity_output(opts=invoke).account_id
        role = aws.iam.Role(
            f"{name}-role",
            description="Containers of an AWS Batch job",
            assume_role_policy=account_id.apply(lambda known: _trust_policy(args.region, known)),
            tags=dict(args.tags),
            opts=child,
        )
        self.arn = once_made(role.arn, attach_policies(name, role, args.policy_arns, child))
        self.register_outputs({"arn": self.arn})


def _trust_policy(region: str, account_id: str) -> str:
    tasks = f"arn:{partition(region)}:ecs:{region}:{account_id}:*"
    # ECS has the same service principal in every partition.
    return json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": "sts:AssumeRole",
                    "Principal": {"Service": "ecs-tasks.amazonaws.com"},
                    "Condition": {
                        "StringEquals": {"aws:SourceAccount": account_id},
                        "ArnLike": {"aws:SourceArn": tasks},
                    },
                }
            ],
        }
    )
