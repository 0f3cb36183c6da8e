"""Arguments common to managed and self-managed node groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi

from trainyard.components.compute.placement_group import (
    ClusterPlacementGroup,
    ClusterPlacementGroupArgs,
)
from trainyard.components.eks.cluster import ClusterAccess
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.identity.node_role import NodeRole


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroupArgs:
    """Arguments of `ManagedNodeGroup` and `SelfManagedNodeGroup`."""

    cluster_name: str
    """Name of the cluster; prefix of the node names."""
    kubernetes_version: str
    plan: NodeGroupPlan
    access: ClusterAccess
    subnet_ids: Sequence[pulumi.Input[str]]
    """Ids of the `subnets` in the plan."""
    efa_security_group_id: pulumi.Input[str] | None
    """Required if the plan has EFA interfaces."""
    reservation_id: pulumi.Input[str] | None = None
    """Reservation that the stack creates, if any."""
    reservation_group_arn: pulumi.Input[str] | None = None
    """Resource group that the stack creates from the plan's reservations, if any."""
    role: NodeRole
    launch_after: Sequence[pulumi.Resource]
    """Resources that must exist before the first node: the cluster with VPC CNI, the EFA rules, and
    the authorization of the role of a self-managed group."""
    group_metrics: bool = False
    """Whether the Auto Scaling group sends metrics. Those of managed groups always do."""
    tags: Mapping[str, str]

    @property
    def node_name(self) -> str:
        """The `Name` tag of the nodes, `<cluster>-<node group>-Node`."""
        return f"{self.cluster_name}-{self.plan.name}-Node"

    @property
    def target_group_arn(self) -> pulumi.Input[str] | None:
        """The reservation group that nodes launch into, created by the stack or existing."""
        return self.reservation_group_arn or self.plan.capacity.reservation_group_arn


def placement_group_name(
    name: str, args: NodeGroupArgs, opts: pulumi.ResourceOptions
) -> pulumi.Input[str] | None:
    """Return the placement group that the nodes launch into; create it if planned.

    `opts` are the resource options for a child of the node group `name`.
    """
    placement = args.plan.placement
    if placement.group == "create":
        group = ClusterPlacementGroup(
            f"{name}-placement", ClusterPlacementGroupArgs(tags=args.tags), opts
        )
        return group.group_name
    return placement.name
