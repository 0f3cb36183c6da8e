"""The EKS access entry of a node role.

Source: https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from trainyard.components.eks.node_access_entry_plan import EC2_LINUX, entry_fault


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAccessEntryArgs:
    """Arguments of `NodeAccessEntry`."""

    cluster_name: pulumi.Input[str]
    role_arn: pulumi.Input[str]
    """Role of a self-managed node group. EKS creates the entry of a managed group's role and
    refuses a second one for the same role."""
    tags: Mapping[str, str]


class NodeAccessEntry(pulumi.ComponentResource):
    """The access entry of one node role, verified after EKS creates it.

    If the role was in `aws-auth` before, its line is removed only afterwards: the engine deletes
    dropped resources after the program has succeeded, and the program fails here unless the entry
    lets nodes join.

    Children: `<name>-entry` (`aws.eks.AccessEntry`).
    """

    role_arn: pulumi.Output[str]
    """Authorized role. Resolves when the entry lets nodes join, and fails otherwise."""

    def __init__(
        self,
        name: str,
        args: NodeAccessEntryArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:eks:NodeAccessEntry", name, {}, opts)
        entry = aws.eks.AccessEntry(
            f"{name}-entry",
            cluster_name=args.cluster_name,
            principal_arn=args.role_arn,
            type=EC2_LINUX,
            tags=dict(args.tags),
            opts=pulumi.ResourceOptions(parent=self),
        )
        # The provider fills these from DescribeAccessEntry.
        described = pulumi.Output.all(entry.principal_arn, entry.type, entry.kubernetes_groups)
        self.role_arn = described.apply(lambda found: _let_in(*found))
        self.register_outputs({"role_arn": self.role_arn})


def _let_in(role_arn: str, entry_type: str, groups: Sequence[str] | None) -> str:
    fault = entry_fault(entry_type, groups or ())
    if fault is not None:
        raise ValueError(f"the access entry of {role_arn} {fault}: its nodes could not join")
    return role_arn
