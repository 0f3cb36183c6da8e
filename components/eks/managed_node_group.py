"""A managed node group with a custom launch template.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import pulumi
import pulumi_aws as aws

from trainyard.components.compute.launch_template import NodeLaunchTemplate, NodeLaunchTemplateArgs
from trainyard.components.config.eks import Taint
from trainyard.components.eks.node_group_args import NodeGroupArgs, placement_group_name
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.eks.node_group_schedule import NodeGroupSchedule, NodeGroupScheduleArgs
from trainyard.components.eks.nodeadm_plan import render_managed_user_data
from trainyard.components.naming import LAUNCH, MANAGED_NODE_GROUP

TAINT_EFFECTS = {
    "NoSchedule": "NO_SCHEDULE",
    "PreferNoSchedule": "PREFER_NO_SCHEDULE",
    "NoExecute": "NO_EXECUTE",
}
"""Kubernetes taint effects in the spelling of the EKS API.
https://docs.aws.amazon.com/eks/latest/APIReference/API_Taint.html"""
SIZES = ["scalingConfig"]


class ManagedNodeGroup(pulumi.ComponentResource):
    """A managed node group: EKS owns the Auto Scaling group, authorizes the nodes and drains them.

    The group pins the AMI release version and the template version, so that a second `up` changes
    nothing.

    Before a Capacity Block starts, the group is empty. A scheduled action scales its Auto Scaling
    group at the start and owns the sizes until then. EKS scales it to zero 40 minutes before the
    end. UltraServers are terminated before that, so a scheduled action scales their group in.

    Children: `<name>-launch` (`NodeLaunchTemplate`), `<name>-placement`
    (`ClusterPlacementGroup`, where planned), `<name>-node-group` (`aws.eks.NodeGroup`),
    `<name>-schedule` (`NodeGroupSchedule`, where planned).
    """

    group_name: pulumi.Output[str]
    """Name of the EKS node group."""
    ready: pulumi.Resource
    """The resource that exists once the nodes are in service."""

    def __init__(
        self,
        name: str,
        args: NodeGroupArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:eks:ManagedNodeGroup", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.plan
        template = NodeLaunchTemplate(
            f"{name}{LAUNCH}", _launch_template_args(name, args, child), child
        )
        group = aws.eks.NodeGroup(
            f"{name}{MANAGED_NODE_GROUP}",
            cluster_name=args.access.cluster_name,
            node_role_arn=args.role.arn,
            subnet_ids=list(args.subnet_ids),
            version=args.kubernetes_version,
            ami_type=plan.ami_type,
            release_version=plan.ami_release_version,
            capacity_type=plan.capacity.eks_capacity_type,
            launch_template=aws.eks.NodeGroupLaunchTemplateArgs(
                id=template.launch_template_id, version=template.version
            ),
            scaling_config=aws.eks.NodeGroupScalingConfigArgs(
                min_size=plan.schedule.minimum,
                desired_size=plan.schedule.desired,
                max_size=plan.schedule.maximum,
            ),
            update_config=aws.eks.NodeGroupUpdateConfigArgs(
                max_unavailable=plan.update.maximum_unavailable,
                max_unavailable_percentage=plan.update.maximum_unavailable_percentage,
                update_strategy=plan.update.strategy,
            ),
            node_repair_config=_node_repair(plan),
            labels=plan.labels or None,
            taints=[_taint(taint) for taint in plan.taints] or None,
            tags={"Name": args.node_name, **args.tags},
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*args.launch_after],
                ignore_changes=SIZES if plan.schedule.scale_up_at else None,
                # The reservation has no instances left for new nodes while the old ones run.
                delete_before_replace=plan.capacity.is_reserved,
            ),
        )
        self._group = group
        if plan.schedule.moved_by_schedule:
            NodeGroupSchedule(
                f"{name}-schedule",
                NodeGroupScheduleArgs(group_name=self.auto_scaling_group, schedule=plan.schedule),
                child,
            )

        self.group_name = group.node_group_name
        self.ready = group
        self.register_outputs({"group_name": self.group_name})

    @property
    def auto_scaling_group(self) -> pulumi.Output[str]:
        """Name of the Auto Scaling group that EKS makes."""
        return self._group.resources.apply(_auto_scaling_group)


def _launch_template_args(
    name: str, args: NodeGroupArgs, opts: pulumi.ResourceOptions
) -> NodeLaunchTemplateArgs:
    plan = args.plan
    return NodeLaunchTemplateArgs(
        instance_type=plan.instance_type.name,
        capacity=plan.capacity,
        reservation_id=args.reservation_id,
        reservation_group_arn=args.target_group_arn,
        market_type=_template_market(plan),
        interfaces=plan.interfaces,
        cluster_security_group_id=args.access.security_group_id,
        efa_security_group_id=args.efa_security_group_id,
        placement_group_name=placement_group_name(name, args, opts),
        root_volume=plan.root_volume,
        metadata_hop_limit=plan.metadata_hop_limit,
        user_data=render_managed_user_data(plan),
        image_id=None,
        instance_profile_arn=None,
        ssh_key_name=plan.ssh_key_name,
        node_name=args.node_name,
        tags=args.tags,
    )


def _node_repair(plan: NodeGroupPlan) -> aws.eks.NodeGroupNodeRepairConfigArgs:
    enabled = plan.config.auto_repair
    return aws.eks.NodeGroupNodeRepairConfigArgs(
        enabled=enabled,
        max_parallel_nodes_repaired_count=(
            plan.config.maximum_parallel_repairs if enabled else None
        ),
    )


def _auto_scaling_group(resources: Sequence[Any]) -> str:
    return resources[0].autoscaling_groups[0].name


def _template_market(plan: NodeGroupPlan) -> Literal["capacity-block"] | None:
    # EKS refuses `spot` in the template, because the capacity type of the group sets it. For
    # Capacity Blocks it requires both CAPACITY_BLOCK in the group and `capacity-block` in the
    # template.
    return "capacity-block" if plan.capacity.market_type == "capacity-block" else None


def _taint(taint: Taint) -> aws.eks.NodeGroupTaintArgs:
    return aws.eks.NodeGroupTaintArgs(
        key=taint.key, value=taint.value, effect=TAINT_EFFECTS[taint.effect]
    )
