"""The IAM role of the nodes of one node group, and its instance profile."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from trainyard.components.config.eks import AddonPolicy
from trainyard.components.identity.addon_policies import inline_policies, managed_policies
from trainyard.components.identity.trust import ec2_trust_policy
from trainyard.components.naming import managed_policy_arns, partition

# AWS managed policies of a role, as separate resources.
#
# Policies in the role resource would be exclusive: the provider detaches all others.
# https://www.pulumi.com/registry/packages/aws/api-docs/iam/role/


def attach_policies(
    name: str, role: aws.iam.Role, arns: Iterable[str], options: pulumi.ResourceOptions
) -> list[aws.iam.RolePolicyAttachment]:
    """Register one `<name>-<policy>` for each policy, without duplicates."""
    return [
        aws.iam.RolePolicyAttachment(
            f"{name}-{arn.rpartition('/')[2]}", role=role.name, policy_arn=arn, opts=options
        )
        for arn in dict.fromkeys(arns)
    ]


def once_made(
    value: pulumi.Output[str], policies: Sequence[pulumi.CustomResource]
) -> pulumi.Output[str]:
    """Return a value that resolves only after the policies are attached."""
    made = pulumi.Output.all(*(policy.id for policy in policies))
    return pulumi.Output.all(value, made).apply(lambda known: known[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInstanceProfileArgs:
    """Arguments of `NodeInstanceProfile`."""

    role_name: pulumi.Input[str]
    tags: Mapping[str, str]


class NodeInstanceProfile(pulumi.ComponentResource):
    """An instance profile with one role; EKS creates it for managed node groups.

    `aws-auth` and access entries use the ARN of the role, not of the profile.

    Children: `<name>-profile` (`aws.iam.InstanceProfile`).
    """

    arn: pulumi.Output[str]
    """ARN of the profile."""

    def __init__(
        self,
        name: str,
        args: NodeInstanceProfileArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:identity:NodeInstanceProfile", name, {}, opts)

        profile = aws.iam.InstanceProfile(
            f"{name}-profile",
            role=args.role_name,
            tags=dict(args.tags),
            opts=pulumi.ResourceOptions(parent=self),
        )

        self.arn = profile.arn
        self.register_outputs({"arn": self.arn})


# The IAM role of the nodes of one node group.
#
# Source: https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html


REQUIRED_POLICIES = (
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    # Pull only: `ReadOnly` would also allow a node to list and describe repositories.
    "AmazonEC2ContainerRegistryPullOnly",
    # Shell access through Session Manager, without SSH keys or open ports.
    "AmazonSSMManagedInstanceCore",
)
"""AWS managed policies that every node has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRoleArgs:
    """Arguments of `NodeRole`."""

    extra_policies: Sequence[str]
    """AWS managed policies in addition to `REQUIRED_POLICIES`: names, with their path if they have
    one (`service-role/AmazonEBSCSIDriverPolicy`)."""
    addon_policies: Sequence[AddonPolicy] = ()
    """Permissions for pods that use the role."""
    cluster_name: str
    """The cluster whose Auto Scaling groups the autoscaler can change."""
    region: str
    """Region of the stack, for the partition of the policies."""
    tags: Mapping[str, str]


class NodeRole(pulumi.ComponentResource):
    """A role for EC2 instances, with the policies of an EKS node.

    Children: `<name>-role` (`aws.iam.Role`), `<name>-<policy>` (`aws.iam.RolePolicyAttachment`) for
    each managed policy, `<name>-<add-on policy>` (`aws.iam.RolePolicy`) for each inline add-on
    policy.
    """

    arn: pulumi.Output[str]
    """ARN of the role; resolves when every policy is attached."""
    role_name: pulumi.Output[str]
    """Name of the role, for instance profiles; resolves like `arn`."""

    def __init__(
        self,
        name: str,
        args: NodeRoleArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:identity:NodeRole", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        role = aws.iam.Role(
            f"{name}-role",
            description="Nodes of an EKS node group",
            assume_role_policy=ec2_trust_policy(args.region),
            tags=dict(args.tags),
            opts=child,
        )
        names = (*REQUIRED_POLICIES, *managed_policies(args.addon_policies), *args.extra_policies)
        attachments = attach_policies(name, role, managed_policy_arns(names, args.region), child)
        documents = inline_policies(
            args.addon_policies, partition=partition(args.region), cluster_name=args.cluster_name
        )
        inline = [
            aws.iam.RolePolicy(
                f"{name}-{policy}", role=role.name, policy=json.dumps(document), opts=child
            )
            for policy, document in documents.items()
        ]

        policies = (*attachments, *inline)
        self.arn = once_made(role.arn, policies)
        self.role_name = once_made(role.name, policies)
        self.register_outputs({"arn": self.arn, "role_name": self.role_name})
