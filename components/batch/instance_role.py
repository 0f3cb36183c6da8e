"""The IAM role and instance profile of the nodes of a compute environment.

Source: https://docs.aws.amazon.com/batch/latest/userguide/instance_IAM_role.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from trainyard.components.identity.attached_policies import attach_policies, once_made
from trainyard.components.identity.ec2_trust import ec2_trust_policy
from trainyard.components.identity.instance_profile import (
    NodeInstanceProfile,
    NodeInstanceProfileArgs,
)
from trainyard.components.naming import managed_policy_arns

REQUIRED_POLICIES = (
    "service-role/AmazonEC2ContainerServiceforEC2Role",
    # Shell access through Session Manager, without SSH keys or open ports.
    "AmazonSSMManagedInstanceCore",
)
"""AWS managed policies that every node has, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchInstanceRoleArgs:
    """Arguments of `BatchInstanceRole`."""

    extra_policy_arns: Sequence[str]
    """ARNs of AWS managed policies in addition to `REQUIRED_POLICIES`."""
    region: str
    """Region of the stack, for the partition of the required policies."""
    tags: Mapping[str, str]


class BatchInstanceRole(pulumi.ComponentResource):
    """A role for EC2 instances that are Batch nodes.

    Children: `<name>-role` (`aws.iam.Role`), `<name>-<policy>` (`aws.iam.RolePolicyAttachment`) for
    each managed policy, `<name>-instance` (`NodeInstanceProfile`).
    """

    profile_arn: pulumi.Output[str]
    """ARN of the instance profile, which Batch calls the instance role; resolves when every policy
    is attached."""

    def __init__(
        self,
        name: str,
        args: BatchInstanceRoleArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:batch:BatchInstanceRole", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        role = aws.iam.Role(
            f"{name}-role",
            description="Nodes of an AWS Batch compute environment",
            assume_role_policy=ec2_trust_policy(args.region),
            tags=dict(args.tags),
            opts=child,
        )
        arns = (*args.extra_policy_arns, *managed_policy_arns(REQUIRED_POLICIES, args.region))
        attachments = attach_policies(name, role, arns, child)
        profile = NodeInstanceProfile(
            f"{name}-instance",
            NodeInstanceProfileArgs(role_name=once_made(role.name, attachments), tags=args.tags),
            child,
        )

        self.profile_arn = profile.arn
        self.register_outputs({"profile_arn": self.profile_arn})
