"""The IAM role of the nodes of one node group.

Source: https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.config.eks import AddonPolicy
from components.identity.addon_policies import inline_names, inline_policies, managed_policies
from components.identity.ec2_trust import ec2_trust_policy

REQUIRED_POLICIES = (
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    # Pull only: a node never lists or describes repositories, which `ReadOnly` would allow too.
    "AmazonEC2ContainerRegistryPullOnly",
    # A shell on a node without SSH keys or open ports.
    "AmazonSSMManagedInstanceCore",
)
"""AWS managed policies that every node has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRoleArgs:
    """Arguments of `NodeRole`."""

    extra_policies: Sequence[str]
    """AWS managed policies besides `REQUIRED_POLICIES`: names, with the path where they have one
    (`service-role/AmazonEBSCSIDriverPolicy`)."""
    addon_policies: Sequence[AddonPolicy] = ()
    """What pods may do with the role."""
    cluster_name: str
    """The cluster whose Auto Scaling groups an autoscaler may change."""
    tags: Mapping[str, str]


class NodeRole(pulumi.ComponentResource):
    """A role that EC2 instances take, with the policies of an EKS node.

    Children: `<name>-role` (`aws.iam.Role`), one `<name>-<policy>`
    (`aws.iam.RolePolicyAttachment`) a managed policy, one `<name>-<add-on policy>`
    (`aws.iam.RolePolicy`) for each that no managed policy grants.
    """

    arn: pulumi.Output[str]
    """ARN of the role; resolves when every policy is attached, so that no node starts without."""
    role_name: pulumi.Output[str]
    """Name of the role, which is what an instance profile takes; resolves as `arn` does."""

    def __init__(
        self,
        name: str,
        args: NodeRoleArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:identity:NodeRole", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        partition = aws.get_partition_output(opts=pulumi.InvokeOptions(parent=self))

        role = aws.iam.Role(
            f"{name}-role",
            description="Nodes of an EKS node group",
            assume_role_policy=partition.dns_suffix.apply(ec2_trust_policy),
            tags=dict(args.tags),
            opts=child,
        )
        attachments = [
            aws.iam.RolePolicyAttachment(
                f"{name}-{policy.rpartition('/')[2]}",
                role=role.name,
                policy_arn=pulumi.Output.format(
                    "arn:{0}:iam::aws:policy/{1}", partition.partition, policy
                ),
                opts=child,
            )
            for policy in dict.fromkeys(
                (
                    *REQUIRED_POLICIES,
                    *managed_policies(args.addon_policies),
                    *args.extra_policies,
                )
            )
        ]
        inline = [
            aws.iam.RolePolicy(
                f"{name}-{policy}",
                role=role.name,
                policy=partition.partition.apply(_document_of(policy, args.cluster_name)),
                opts=child,
            )
            for policy in inline_names(args.addon_policies)
        ]

        attached = pulumi.Output.all(*(policy.id for policy in (*attachments, *inline)))
        self.arn = pulumi.Output.all(role.arn, attached).apply(lambda values: values[0])
        self.role_name = pulumi.Output.all(role.name, attached).apply(lambda values: values[0])
        self.register_outputs({"arn": self.arn, "role_name": self.role_name})


def _document_of(policy: AddonPolicy, cluster_name: str) -> Callable[[str], str]:
    def document(partition: str) -> str:
        found = inline_policies((policy,), partition=partition, cluster_name=cluster_name)
        return json.dumps(found[policy])

    return document
