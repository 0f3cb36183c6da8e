"""An access entry that lets the nodes of one role join the cluster.

Source: https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

EC2_LINUX = "EC2_LINUX"
"""The type for nodes; EKS itself gives it the user name and the groups of a node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAccessEntryArgs:
    """Arguments of `NodeAccessEntry`."""

    cluster_name: pulumi.Input[str]
    role_arn: pulumi.Input[str]
    """Role of a self-managed node group. EKS makes the entry of a managed group's role itself,
    and a second one for the same role is refused."""
    tags: Mapping[str, str]


class NodeAccessEntry(pulumi.ComponentResource):
    """The access entry of one node role.

    Children: `<name>-entry` (`aws.eks.AccessEntry`).
    """

    def __init__(
        self,
        name: str,
        args: NodeAccessEntryArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:eks:NodeAccessEntry", name, {}, opts)
        aws.eks.AccessEntry(
            f"{name}-entry",
            cluster_name=args.cluster_name,
            principal_arn=args.role_arn,
            type=EC2_LINUX,
            tags=dict(args.tags),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({})
