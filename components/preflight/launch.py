"""Every kind of node that a plan launches, whatever runs the nodes afterwards."""

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
    from components.architectures.plan_stack import AnyPlan

_ECS_PARAMETERS: dict[ImageType, str] = {
    "ECS_AL2023": "/aws/service/ecs/optimized-ami/amazon-linux-2023/recommended/image_id",
    "ECS_AL2023_NVIDIA": (
        "/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended/image_id"
    ),
}
"""https://docs.aws.amazon.com/AmazonECS/latest/developerguide/retrieve-ecs-optimized_AMI.html"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSource:
    """Where the machine image of nodes comes from; exactly one of the three is given."""

    image_id: str | None = None
    parameter: str | None = None
    """Public SSM parameter that holds the id."""
    name: str | None = None
    """Beginning of the name of one of Amazon's own."""

    def __str__(self) -> str:
        """Return what is looked up, for people."""
        return self.image_id or self.parameter or f"Amazon's {self.name}*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Nodes of one kind: how EC2 would be asked for one of them."""

    key: str
    """Place in the stack file, below `trainyard:cluster`."""
    instance_type: InstanceType
    nodes: int
    """How many are launched whatever there is to do."""
    most: int
    """How many work may bring; `nodes` where their number is fixed."""
    capacity: CapacityPlan
    placement_group: str | None
    """A group that exists; None without one, and where the stack makes it."""
    wants_group: bool
    """Whether nodes launch into a placement group at all."""
    subnets: tuple[str, ...]
    """References of the `NetworkPlan`."""
    interfaces: InterfacePlan | None
    """None without EFA."""
    image: ImageSource
    root_volume: RootVolume | None
    """None where another program makes it."""
    ssh_key_name: str | None


def launches(plan: AnyPlan) -> Iterator[Launch]:
    """Yield the nodes of a plan, in its order; a network alone has none."""
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
    # ParallelCluster's own choice of interfaces, `efa-only` beside one with an address.
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
