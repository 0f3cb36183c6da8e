"""From one node group of the stack file to its plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from components.capacity.on_demand import plan_on_demand
from components.capacity.placement_review import reviewed_placement
from components.capacity.plan import CapacityPlan, PlacementPlan, SchedulePlan, UpdatePlan
from components.capacity.purchase import OPEN_PURCHASE_OPTIONS, plan_capacity
from components.capacity.schedule import plan_schedule
from components.capacity.update import plan_update
from components.catalog.instance_type import InstanceType
from components.catalog.instance_types import INSTANCE_TYPES
from components.catalog.versions import AmiVariant, EksVersion, ami_type
from components.compute.interface_plan import InterfacePlan, plan_interfaces
from components.compute.root_volume import RootVolume
from components.config.eks import NodeGroup, SystemNodeGroup
from components.config.eks_stack import EksStackConfig
from components.config.node_pool import RootVolume as RootVolumeConfig
from components.config.reservations import CapacityBlock, Reservation
from components.config.review import Review
from components.eks.plan import NodeGroupPlan, Taint
from components.eks.pod_plan import plan_maximum_pods
from components.network.network_plan import NetworkPlan
from components.network.pool_place import PoolPlace

SYSTEM_NODE_GROUP = "system"
"""Name of the node group for cluster services."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroupContext:
    """Values that the plans of all node groups of a stack share."""

    config: EksStackConfig
    version: EksVersion
    network: NetworkPlan
    now: datetime
    """Timezone-aware."""
    offered_zones: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Zones of a new VPC that offer an instance type, by type, if the account was queried."""


def plan_system_node_group(context: NodeGroupContext) -> NodeGroupPlan | None:
    """Return the plan of the system node group, or None if its instance type is unknown.

    The group is managed, uses On-Demand Instances and spans every private subnet: cluster services
    must not depend on the capacity for workloads.
    """
    group: SystemNodeGroup = context.config.architecture.system_node_group
    instance_type = INSTANCE_TYPES.get(group.instance_type)
    if instance_type is None:
        return None
    variant = ami_variant(instance_type)
    return NodeGroupPlan(
        name=SYSTEM_NODE_GROUP,
        management="managed",
        instance_type=instance_type,
        capacity=plan_on_demand(),
        placement=PlacementPlan(group="none", reason="cluster services run in every zone"),
        schedule=plan_schedule(group, None, context.now),
        interfaces=None,
        subnets=context.network.private_names,
        root_volume=_root_volume(group.root_volume),
        local_nvme="none",
        labels=dict(group.labels),
        taints=(),
        maximum_pods=None,
        ami_type=ami_type(variant, instance_type.architecture),
        ami_ssm_parameter=context.version.ami_ssm_parameter(variant, instance_type.architecture),
        ami_release_version=context.version.ami_release_version,
        iam_policies=group.iam_policies,
        addon_policies=group.addon_policies,
    )


def plan_node_group(
    name: str, group: NodeGroup, context: NodeGroupContext, review: Review
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
    place = place_of(name, group, context)
    placement = reviewed_placement(
        place.key, group, instance_type, place.reservation, review, one_zone=place.one_zone
    )
    if placement is None:
        return None
    interfaces = _interfaces(group, instance_type)
    variant = ami_variant(instance_type)
    return NodeGroupPlan(
        name=name,
        management=group.management,
        instance_type=instance_type,
        capacity=_capacity(group, config),
        placement=placement,
        schedule=_schedule(group, reservation, context.now),
        interfaces=interfaces,
        subnets=place.subnets,
        root_volume=_root_volume(group.root_volume),
        local_nvme=group.local_nvme if instance_type.local_nvme_disks else "none",
        labels=dict(group.labels),
        taints=tuple(Taint(key=t.key, value=t.value, effect=t.effect) for t in group.taints),
        maximum_pods=plan_maximum_pods(instance_type, interfaces),
        ami_type=ami_type(variant, instance_type.architecture),
        ami_ssm_parameter=context.version.ami_ssm_parameter(variant, instance_type.architecture),
        ami_release_version=context.version.ami_release_version,
        iam_policies=group.iam_policies,
        addon_policies=group.addon_policies,
        update=_update(group, context, place),
        auto_repair=group.auto_repair,
        ssh_key_name=group.ssh_key_name,
    )


def place_of(name: str, group: NodeGroup, context: NodeGroupContext) -> PoolPlace:
    """Return the settings that decide where the nodes of a group launch."""
    return PoolPlace(
        name=f"node group {name}",
        key=f"architecture.node_groups.{name}",
        pool=group,
        reservation=context.config.reservations.get(group.purchase_option),
        network=context.network,
    )


def ami_variant(instance_type: InstanceType) -> AmiVariant:
    """Return the EKS-optimized AMI variant with the drivers for a type's accelerators."""
    return instance_type.accelerators.manufacturer if instance_type.accelerators else "standard"


def _capacity(group: NodeGroup, config: EksStackConfig) -> CapacityPlan:
    capacity = plan_capacity(group.purchase_option, config.reservations)
    zone = capacity.availability_zone or group.availability_zone
    return replace(capacity, availability_zone=zone)


def _schedule(group: NodeGroup, reservation: Reservation | None, now: datetime) -> SchedulePlan:
    return plan_schedule(
        group,
        reservation if isinstance(reservation, CapacityBlock) else None,
        now,
        managed=group.management == "managed",
    )


def _update(group: NodeGroup, context: NodeGroupContext, place: PoolPlace) -> UpdatePlan:
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


def _interfaces(group: NodeGroup, instance_type: InstanceType) -> InterfacePlan | None:
    if not group.efa_enabled or not instance_type.efa_supported:
        return None
    return plan_interfaces(instance_type, group.interface_layout)


def _root_volume(volume: RootVolumeConfig) -> RootVolume:
    return RootVolume(
        size_gib=volume.size_gib,
        iops=volume.iops,
        throughput_mibps=volume.throughput_mibps,
    )
