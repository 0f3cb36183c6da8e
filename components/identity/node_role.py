"""The IAM role of the nodes of one node group.

Source: https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from trainyard.components.config.eks import AddonPolicy
from trainyard.components.identity.addon_policies import inline_policies, managed_policies
from trainyard.components.identity.attached_policies import attach_policies, once_made
from trainyard.components.identity.ec2_trust import ec2_trust_policy
from trainyard.components.naming import managed_policy_arns, partition

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
