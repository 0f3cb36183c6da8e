"""Managed and self-managed node groups: their launch template, size, schedule and access."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import pulumi
import pulumi_aws as aws

from trainyard.components.capacity.plan import SchedulePlan
from trainyard.components.compute.launch_template import NodeLaunchTemplate, NodeLaunchTemplateArgs
from trainyard.components.compute.placement_group import (
    ClusterPlacementGroup,
    ClusterPlacementGroupArgs,
)
from trainyard.components.config.eks import Taint
from trainyard.components.eks.cluster import ClusterAccess
from trainyard.components.eks.cluster_metrics import GRANULARITY, RUNNING, WANTED
from trainyard.components.eks.node_group_plan import (
    EC2_LINUX,
    NodeGroupPlan,
    entry_fault,
    render_managed_user_data,
    render_self_managed_user_data,
)
from trainyard.components.identity.addon_policies import autoscaler_tags
from trainyard.components.identity.node_role import (
    NodeInstanceProfile,
    NodeInstanceProfileArgs,
    NodeRole,
)
from trainyard.components.naming import AUTO_SCALING_GROUP, LAUNCH, MANAGED_NODE_GROUP


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


# Scheduled scaling of a node group in a Capacity Block.
#
# Source:
# https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-scheduled-scaling.html


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroupScheduleArgs:
    """Arguments of `NodeGroupSchedule`."""

    group_name: pulumi.Input[str]
    """Name of the Auto Scaling group."""
    schedule: SchedulePlan


class NodeGroupSchedule(pulumi.ComponentResource):
    """Adds nodes when a Capacity Block starts and removes them before EC2 terminates them.

    EC2 does so some time before the end of a block, even under load. The times are those of
    `nodes_leave_before_end` in components/capacity/schedule.

    Children: `<name>-up` and `<name>-down` (`aws.autoscaling.Schedule`), if planned.
    """

    def __init__(
        self,
        name: str,
        args: NodeGroupScheduleArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:eks:NodeGroupSchedule", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.schedule

        if plan.scale_up_at is not None:
            aws.autoscaling.Schedule(
                f"{name}-up",
                autoscaling_group_name=args.group_name,
                scheduled_action_name="capacity-block-start",
                start_time=_aws_time(plan.scale_up_at),
                min_size=plan.scale_up_minimum,
                desired_capacity=plan.scale_up_desired,
                max_size=plan.maximum,
                opts=child,
            )
        if plan.scale_down_at is not None:
            aws.autoscaling.Schedule(
                f"{name}-down",
                autoscaling_group_name=args.group_name,
                scheduled_action_name="capacity-block-end",
                start_time=_aws_time(plan.scale_down_at),
                min_size=0,
                desired_capacity=0,
                max_size=plan.maximum,
                opts=child,
            )
        self.register_outputs({})


def _aws_time(moment: datetime) -> str:
    # Auto Scaling takes whole seconds with a `Z`, not an offset.
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# The EKS access entry of a node role.
#
# Source: https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html


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


# A managed node group with a custom launch template.
#
# Sources:
#     https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
#     https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html


TAINT_EFFECTS = {
    "NoSchedule": "NO_SCHEDULE",
    "PreferNoSchedule": "PREFER_NO_SCHEDULE",
    "NoExecute": "NO_EXECUTE",
}
"""Kubernetes taint effects in the spelling of the EKS API.
https://docs.aws.amazon.com/eks/latest/APIReference/API_Taint.html"""
MANAGED_SIZES = ["scalingConfig"]


class ManagedNodeGroup(pulumi.ComponentResource):
    """A managed node group: EKS owns the Auto Scaling group, authorizes the nodes and drains them.

    The group pins the AMI release version and the template version, so that a second `up` changes
    nothing.

    Before a Capacity Block starts, the group is empty. A scheduled action scales its Auto Scaling
    group at the start and owns the sizes until then. EKS scales it to zero before the end
    (`EKS_SCALES_IN_BEFORE_END`). UltraServers are terminated before that, so a scheduled action
    scales their group in.

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
                ignore_changes=MANAGED_SIZES if plan.schedule.scale_up_at else None,
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


# A self-managed node group: a launch template and an Auto Scaling group.
#
# Sources:
#     https://docs.aws.amazon.com/eks/latest/userguide/self-managed-nodes.html
#     https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks.html


WAIT_FOR_CAPACITY = "20m"
"""A p5.48xlarge takes up to 10 minutes from launch to in service."""
NO_WAIT = "0"
SELF_MANAGED_SIZES = ["minSize", "desiredCapacity", "maxSize"]


class SelfManagedNodeGroup(pulumi.ComponentResource):
    """Nodes in an Auto Scaling group that the stack owns.

    Before a Capacity Block starts, the group is empty, `up` does not wait for nodes, and a schedule
    scales it at the start. Until then the schedule owns the sizes: an update planned before the
    start and applied after it would empty the group. Afterwards plan and schedule agree, and size
    changes in the stack file take effect.

    A new template version applies to new nodes only, because replacing a node would end its
    training job. To replace the nodes, scale the group in and out.

    Children: `<name>-instance` (`NodeInstanceProfile`), `<name>-launch` (`NodeLaunchTemplate`),
    `<name>-placement` (`ClusterPlacementGroup`, where planned), `<name>-nodes`
    (`aws.autoscaling.Group`), `<name>-schedule` (`NodeGroupSchedule`, where planned).
    """

    group_name: pulumi.Output[str]
    """Name of the Auto Scaling group."""
    ready: pulumi.Resource
    """The resource that exists once the nodes are in service."""

    def __init__(
        self,
        name: str,
        args: NodeGroupArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:eks:SelfManagedNodeGroup", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        schedule = args.plan.schedule
        template = self._launch_template(name, args, child)

        group = aws.autoscaling.Group(
            f"{name}{AUTO_SCALING_GROUP}",
            min_size=schedule.minimum,
            desired_capacity=schedule.desired,
            max_size=schedule.maximum,
            vpc_zone_identifiers=list(args.subnet_ids),
            launch_template=aws.autoscaling.GroupLaunchTemplateArgs(
                id=template.launch_template_id, version=template.version
            ),
            health_check_type="EC2",
            wait_for_capacity_timeout=_wait(args.plan),
            enabled_metrics=_group_metrics(args),
            metrics_granularity=GRANULARITY if args.group_metrics else None,
            tags=_group_tags(args),
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*args.launch_after],
                ignore_changes=SELF_MANAGED_SIZES if schedule.scale_up_at else None,
                # The reservation has no instances left for new nodes while the old ones run.
                delete_before_replace=args.plan.capacity.is_reserved,
            ),
        )
        if schedule.moved_by_schedule:
            NodeGroupSchedule(
                f"{name}-schedule",
                NodeGroupScheduleArgs(group_name=group.name, schedule=schedule),
                child,
            )

        self.group_name = group.name
        self.ready = group
        self.register_outputs({"group_name": self.group_name})

    @property
    def auto_scaling_group(self) -> pulumi.Output[str]:
        """Name of the Auto Scaling group."""
        return self.group_name

    def _launch_template(
        self, name: str, args: NodeGroupArgs, opts: pulumi.ResourceOptions
    ) -> NodeLaunchTemplate:
        plan, access = args.plan, args.access
        image = aws.ssm.get_parameter_output(
            name=plan.ami_ssm_parameter, opts=pulumi.InvokeOptions(parent=self)
        )
        profile = NodeInstanceProfile(
            f"{name}-instance",
            NodeInstanceProfileArgs(role_name=args.role.role_name, tags=args.tags),
            opts,
        )
        return NodeLaunchTemplate(
            f"{name}{LAUNCH}",
            NodeLaunchTemplateArgs(
                instance_type=plan.instance_type.name,
                capacity=plan.capacity,
                reservation_id=args.reservation_id,
                reservation_group_arn=args.target_group_arn,
                market_type=plan.capacity.market_type,
                interfaces=plan.interfaces,
                cluster_security_group_id=access.security_group_id,
                efa_security_group_id=args.efa_security_group_id,
                placement_group_name=placement_group_name(name, args, opts),
                root_volume=plan.root_volume,
                metadata_hop_limit=plan.metadata_hop_limit,
                user_data=_user_data(args),
                # AMI ids are public; a secret id would hide the whole template in previews.
                image_id=pulumi.Output.unsecret(image.value),
                instance_profile_arn=profile.arn,
                ssh_key_name=plan.ssh_key_name,
                node_name=args.node_name,
                tags=args.tags,
            ),
            opts,
        )


def _user_data(args: NodeGroupArgs) -> pulumi.Output[str]:
    access = args.access
    return pulumi.Output.all(
        cluster_name=access.cluster_name,
        endpoint=access.endpoint,
        certificate_authority=access.certificate_authority,
        service_cidr=access.service_cidr,
    ).apply(lambda known: render_self_managed_user_data(args.plan, **known))


def _wait(plan: NodeGroupPlan) -> str:
    return WAIT_FOR_CAPACITY if plan.schedule.wait_for_capacity else NO_WAIT


def _group_metrics(args: NodeGroupArgs) -> list[aws.autoscaling.Metric] | None:
    if not args.group_metrics:
        return None
    return [aws.autoscaling.Metric(name) for name in (WANTED, RUNNING)]


def _group_tags(args: NodeGroupArgs) -> list[aws.autoscaling.GroupTagArgs]:
    tags = {
        "Name": args.node_name,
        # This tag marks the instances of the cluster. The program's security groups never have it.
        f"kubernetes.io/cluster/{args.cluster_name}": "owned",
        **_autoscaler_tags(args),
        **args.tags,
    }
    return [
        aws.autoscaling.GroupTagArgs(key=key, value=value, propagate_at_launch=True)
        for key, value in tags.items()
    ]


def _autoscaler_tags(args: NodeGroupArgs) -> dict[str, str]:
    # EKS tags managed groups for the Cluster Autoscaler. Self-managed groups need the tags here.
    return autoscaler_tags(args.cluster_name) if "autoscaler" in args.plan.addon_policies else {}
