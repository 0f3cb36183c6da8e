"""The IAM role of the nodes of a compute environment, and the profile that hands it to them.

Source: https://docs.aws.amazon.com/batch/latest/userguide/instance_IAM_role.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.identity.ec2_trust import ec2_trust_policy
from components.identity.instance_profile import NodeInstanceProfile, NodeInstanceProfileArgs

REQUIRED_POLICIES = (
    "service-role/AmazonEC2ContainerServiceforEC2Role",
    # A shell on a node without SSH keys or open ports.
    "AmazonSSMManagedInstanceCore",
)
"""AWS managed policies that every node has, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchInstanceRoleArgs:
    """Arguments of `BatchInstanceRole`."""

    extra_policy_arns: Sequence[str]
    """ARNs of AWS managed policies besides `REQUIRED_POLICIES`."""
    tags: Mapping[str, str]


class BatchInstanceRole(pulumi.ComponentResource):
    """A role that EC2 instances take to be nodes of Batch.

    Children: `<name>-role` (`aws.iam.Role`), one `<name>-<policy>`
    (`aws.iam.RolePolicyAttachment`) a managed policy, `<name>-instance` (`NodeInstanceProfile`).
    """

    profile_arn: pulumi.Output[str]
    """ARN of the instance profile, which is what Batch calls the instance role; resolves when
    every policy is attached, so that no node starts without."""

    def __init__(
        self,
        name: str,
        args: BatchInstanceRoleArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:batch:BatchInstanceRole", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        partition = aws.get_partition_output(opts=pulumi.InvokeOptions(parent=self))

        role = aws.iam.Role(
            f"{name}-role",
            description="Nodes of an AWS Batch compute environment",
            assume_role_policy=partition.dns_suffix.apply(ec2_trust_policy),
            tags=dict(args.tags),
            opts=child,
        )
        required = [
            pulumi.Output.format("arn:{0}:iam::aws:policy/{1}", partition.partition, policy)
            for policy in REQUIRED_POLICIES
        ]
        named = {
            _last(policy): arn
            for policy, arn in (
                *((arn, arn) for arn in args.extra_policy_arns),
                *zip(REQUIRED_POLICIES, required, strict=True),
            )
        }
        attachments = [
            aws.iam.RolePolicyAttachment(
                f"{name}-{policy}", role=role.name, policy_arn=arn, opts=child
            )
            for policy, arn in named.items()
        ]
        attached = pulumi.Output.all(*(policy.id for policy in attachments))
        profile = NodeInstanceProfile(
            f"{name}-instance",
            NodeInstanceProfileArgs(
                role_name=pulumi.Output.all(role.name, attached).apply(lambda known: known[0]),
                tags=args.tags,
            ),
            child,
        )

        self.profile_arn = profile.arn
        self.register_outputs({"profile_arn": self.profile_arn})


def _last(policy: str) -> str:
    return policy.rpartition("/")[2]
