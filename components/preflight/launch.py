"""The kinds of nodes that a plan launches, for all architectures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from components.batch.plan import BatchPlan, ComputeEnvironmentPlan
from components.capacity.plan import CapacityPlan
from components.catalog.batch import ImageType
from components.catalog.instance_type import InstanceType
from components.catalog.parallelcluster import official_image_name
from components.compute.interface_plan import InterfacePlan, plan_interfaces
from components.compute.root_volume import RootVolume
from components.eks.node_group_plan import SYSTEM_NODE_GROUP
from components.eks.plan import EksPlan, NodeGroupPlan
from components.parallelcluster.plan import ComputeResourcePlan, ParallelClusterPlan, QueuePlan

if TYPE_CHECKING:
    from components.architectures.registry import AnyPlan

_ECS_PARAMETERS: dict[ImageType, str] = {
    "ECS_AL2023": "/aws/service/ecs/optimized-ami/amazon-linux-2023/recommended/image_id",
    "ECS_AL2023_NVIDIA": (
        "/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended/image_id"
    ),
}
"""https://docs.aws.amazon.com/AmazonECS/latest/developerguide/retrieve-ecs-optimized_AMI.html"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSource:
    """Source of an AMI; exactly one of the three fields is set."""

    image_id: str | None = None
    parameter: str | None = None
    """Public SSM parameter with the AMI id."""
    name: str | None = None
    """Name prefix of an Amazon AMI."""

    def __str__(self) -> str:
        """Return the source, for messages."""
        return self.image_id or self.parameter or f"Amazon's {self.name}*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Launch parameters of one kind of node."""

    key: str
    """Key in the stack file, below `trainyard:cluster`."""
    instance_type: InstanceType
    nodes: int
    """Number of nodes that always launch."""
    most: int
    """Maximum number of nodes; `nodes` if the number is fixed."""
    capacity: CapacityPlan
    placement_group: str | None
    """Existing placement group; None without one, or if the stack creates it."""
    wants_group: bool
    """Whether nodes launch into a placement group."""
    subnets: tuple[str, ...]
    """References of the `NetworkPlan`."""
    interfaces: InterfacePlan | None
    """None without EFA."""
    image: ImageSource
    root_volume: RootVolume | None
    """None if another program creates it."""
    ssh_key_name: str | None


def launches(plan: AnyPlan) -> Iterator[Launch]:
    """Yield the kinds of nodes of a plan, in its order; a network stack has none."""
    if isinstance(plan, EksPlan):
        yield from (_node_group(group) for group in plan.node_groups)
    elif isinstance(plan, BatchPlan):
        yield from (_compute_environment(each) for each in plan.compute_environments)
    elif isinstance(plan, ParallelClusterPlan):
        for queue in plan.queues:
            yield from (_compute_resource(r, queue, plan) for r in queue.compute_resources)


def _node_group(group: NodeGroupPlan) -> Launch:
    system = group.name == SYSTEM_NODE_GROUP
    nodes = max(group.schedule.desired, group.schedule.scale_up_desired)
    return Launch(
        key="architecture.system_node_group"
        if system
        else f"architecture.node_groups.{group.name}",
        instance_type=group.instance_type,
        nodes=nodes,
        most=nodes,
        capacity=group.capacity,
        placement_group=group.placement.name,
        wants_group=group.placement.group != "none",
        subnets=group.subnets,
        interfaces=group.interfaces,
        image=ImageSource(parameter=group.ami_ssm_parameter),
        root_volume=group.root_volume,
        ssh_key_name=group.ssh_key_name,
    )


def _compute_environment(each: ComputeEnvironmentPlan) -> Launch:
    image = (
        ImageSource(parameter=_ECS_PARAMETERS[each.image_type])
        if each.custom_ami_id is None and each.image_type is not None
        else ImageSource(image_id=each.custom_ami_id)
    )
    return Launch(
        key=f"architecture.compute_environments.{each.name}",
        instance_type=each.instance_type,
        nodes=each.minimum_vcpus // each.instance_type.vcpus,
        most=each.maximum_vcpus // each.instance_type.vcpus,
        capacity=each.capacity,
        placement_group=each.placement.name,
        wants_group=each.placement.group != "none",
        subnets=each.subnets,
        interfaces=each.interfaces,
        image=image,
        root_volume=each.root_volume,
        ssh_key_name=each.ssh_key_name,
    )


def _compute_resource(
    resource: ComputeResourcePlan, queue: QueuePlan, plan: ParallelClusterPlan
) -> Launch:
    own = queue.custom_ami_id or plan.custom_ami_id
    name = official_image_name(
        plan.version, plan.operating_system, resource.instance_type.architecture
    )
    # The interface layout of ParallelCluster: `efa-only`, and one interface with an address.
    efa = resource.efa_enabled and resource.instance_type.efa_supported
    return Launch(
        key=f"architecture.queues.{queue.name}.compute_resources.{resource.name}",
        instance_type=resource.instance_type,
        nodes=resource.minimum,
        most=resource.maximum,
        capacity=resource.capacity,
        placement_group=resource.placement.name,
        wants_group=resource.placement.group != "none",
        subnets=queue.subnets,
        interfaces=plan_interfaces(resource.instance_type) if efa else None,
        image=ImageSource(image_id=own) if own or name is None else ImageSource(name=name),
        root_volume=None,
        ssh_key_name=None,
    )
