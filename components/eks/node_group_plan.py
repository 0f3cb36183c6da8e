"""From one node group of the stack file to its plan."""

from __future__ import annotations

from datetime import datetime

from components.capacity.on_demand import plan_on_demand
from components.capacity.placement_review import reviewed_placement
from components.capacity.plan import PlacementPlan, SchedulePlan, UpdatePlan
from components.capacity.purchase import OPEN_PURCHASE_OPTIONS
from components.capacity.schedule import plan_schedule
from components.capacity.update import plan_update
from components.catalog.instance_type import InstanceType
from components.catalog.instance_types import INSTANCE_TYPES
from components.catalog.versions import (
    DEFAULT_KUBERNETES_VERSION,
    EKS_VERSIONS,
    AmiVariant,
    EksVersion,
    ami_type,
)
from components.compute.interface_plan import plan_pool_interfaces
from components.compute.root_volume import plan_root_volume
from components.config.eks import NodeGroup, SystemNodeGroup
from components.config.eks_stack import EksStackConfig
from components.config.reservations import CapacityBlock, Reservation
from components.config.review import Review
from components.eks.plan import SYSTEM_NODE_GROUP, NodeGroupPlan, Taint
from components.eks.pod_plan import plan_maximum_pods
from components.network.pool_place import PlanContext, PoolPlace

Context = PlanContext[EksStackConfig]


def version_of(config: EksStackConfig) -> EksVersion:
    """Return the Kubernetes version of a stack.

    A version that is not pinned is refused separately. The plan continues with the default, to
    report further problems.
    """
    wanted = config.architecture.kubernetes_version
    return EKS_VERSIONS.get(wanted, EKS_VERSIONS[DEFAULT_KUBERNETES_VERSION])


def plan_system_node_group(context: Context) -> NodeGroupPlan | None:
    """Return the plan of the system node group, or None if its instance type is unknown.

    The group is managed, uses On-Demand Instances and spans every private subnet: cluster services
    must not depend on the capacity for workloads.
    """
    group: SystemNodeGroup = context.config.architecture.system_node_group
    instance_type = INSTANCE_TYPES.get(group.instance_type)
    if instance_type is None:
        return None
    variant, version = ami_variant(instance_type), version_of(context.config)
    return NodeGroupPlan(
        name=SYSTEM_NODE_GROUP,
        management="managed",
        instance_type=instance_type,
        capacity=plan_on_demand(),
        placement=PlacementPlan(group="none", reason="cluster services run in every zone"),
        schedule=plan_schedule(group, None, context.now),
        interfaces=None,
        subnets=context.network.private_names,
        root_volume=plan_root_volume(group.root_volume),
        local_nvme="none",
        labels=dict(group.labels),
        taints=(),
        maximum_pods=None,
        ami_type=ami_type(variant, instance_type.architecture),
        ami_ssm_parameter=version.ami_ssm_parameter(variant, instance_type.architecture),
        ami_release_version=version.ami_release_version,
        iam_policies=group.iam_policies,
        addon_policies=group.addon_policies,
    )


def plan_node_group(
    name: str, group: NodeGroup, context: Context, review: Review
) -> NodeGroupPlan | None:
    """Return the plan of a node group, or None if problems make a plan impossible.

    This function records only a placement that contradicts the capacity.
    `components.eks.node_group_review` records all other problems.
    """
    config = context.config
    instance_type = INSTANCE_TYPES.get(group.instance_type)
    options = {*OPEN_PURCHASE_OPTIONS, *config.reservations}
    if instance_type is None or group.purchase_option not in options:
        return None
    reservation = config.reservations.get(group.purchase_option)
    place = context.place(f"architecture.node_groups.{name}")
    placement = reviewed_placement(
        place.key, group, instance_type, reservation, review, one_zone=place.one_zone
    )
    if placement is None:
        return None
    interfaces = plan_pool_interfaces(group, instance_type)
    variant, version = ami_variant(instance_type), version_of(context.config)
    return NodeGroupPlan(
        name=name,
        management=group.management,
        instance_type=instance_type,
        capacity=context.capacity(group.purchase_option, place),
        placement=placement,
        schedule=_schedule(group, reservation, context.now),
        interfaces=interfaces,
        subnets=place.subnets,
        root_volume=plan_root_volume(group.root_volume),
        local_nvme=group.local_nvme if instance_type.local_nvme_disks else "none",
        labels=dict(group.labels),
        taints=tuple(Taint(key=t.key, value=t.value, effect=t.effect) for t in group.taints),
        maximum_pods=plan_maximum_pods(instance_type, interfaces),
        ami_type=ami_type(variant, instance_type.architecture),
        ami_ssm_parameter=version.ami_ssm_parameter(variant, instance_type.architecture),
        ami_release_version=version.ami_release_version,
        iam_policies=group.iam_policies,
        addon_policies=group.addon_policies,
        update=_update(group, context, place),
        auto_repair=group.auto_repair,
        ssh_key_name=group.ssh_key_name,
    )


def ami_variant(instance_type: InstanceType) -> AmiVariant:
    """Return the EKS-optimized AMI variant with the drivers for a type's accelerators."""
    return instance_type.accelerators.manufacturer if instance_type.accelerators else "standard"


def _schedule(group: NodeGroup, reservation: Reservation | None, now: datetime) -> SchedulePlan:
    return plan_schedule(
        group,
        reservation if isinstance(reservation, CapacityBlock) else None,
        now,
        managed=group.management == "managed",
    )


def _update(group: NodeGroup, context: Context, place: PoolPlace) -> UpdatePlan:
    config = context.config
    sharing = (
        other
        for other in config.architecture.node_groups.values()
        if other.purchase_option == group.purchase_option
    )
    return plan_update(
        config.reservations.get(group.purchase_option),
        nodes_at_most=sum(other.maximum for other in sharing),
        zones=1 if place.one_zone else len(place.subnets),
        training=group.is_training,
    )
