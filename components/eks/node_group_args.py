"""What managed and self-managed node groups have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi

from components.compute.placement_group import ClusterPlacementGroup, ClusterPlacementGroupArgs
from components.eks.cluster import ClusterAccess
from components.eks.plan import NodeGroupPlan
from components.identity.node_role import NodeRole


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroupArgs:
    """Arguments of `ManagedNodeGroup` and `SelfManagedNodeGroup`."""

    cluster_name: str
    """As planned; prefix of the nodes' names."""
    kubernetes_version: str
    plan: NodeGroupPlan
    access: ClusterAccess
    subnet_ids: Sequence[pulumi.Input[str]]
    """Ids of the plan's `subnets`."""
    efa_security_group_id: pulumi.Input[str] | None
    """Required where the plan has EFA interfaces."""
    reservation_group_arn: pulumi.Input[str] | None = None
    """The group that the stack makes of the plan's reservations, where it makes one."""
    role: NodeRole
    launch_after: Sequence[pulumi.Resource]
    """What must be there before the first node: the cluster with its network add-on, the EFA
    rules, and for a self-managed group the authorization of its role."""
    tags: Mapping[str, str]

    @property
    def node_name(self) -> str:
        """The `Name` tag of the nodes, `<cluster>-<node group>-Node`."""
        return f"{self.cluster_name}-{self.plan.name}-Node"

    @property
    def target_group_arn(self) -> pulumi.Input[str] | None:
        """The group of reservations that nodes launch into, whoever made it."""
        return self.reservation_group_arn or self.plan.capacity.reservation_group_arn


def placement_group_name(
    name: str, args: NodeGroupArgs, opts: pulumi.ResourceOptions
) -> pulumi.Input[str] | None:
    """Return the placement group that the nodes launch into, made here where the plan says so.

    `opts` are those of a child of the node group `name`.
    """
    placement = args.plan.placement
    if placement.group == "create":
        group = ClusterPlacementGroup(
            f"{name}-placement", ClusterPlacementGroupArgs(tags=args.tags), opts
        )
        return group.group_name
    return placement.name
