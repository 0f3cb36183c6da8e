"""The plan of a queue."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from trainyard.components.capacity.placement_review import reviewed_placement
from trainyard.components.capacity.plan import CapacityPlan
from trainyard.components.capacity.pool_review import purchase_options
from trainyard.components.catalog.instance_type import InstanceType
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.parallelcluster import official_image_name
from trainyard.components.catalog.versions import PARALLELCLUSTER_VERSION
from trainyard.components.compute.interface_plan import plan_interfaces
from trainyard.components.compute.node_pool_plan import ImageSource, NodePoolPlan
from trainyard.components.config.parallelcluster import resource_key
from trainyard.components.config.parallelcluster_nodes import ComputeResource, Queue
from trainyard.components.config.review import Review
from trainyard.components.monitoring.node_agent import measured_on
from trainyard.components.network.pool_place import PoolPlace
from trainyard.components.parallelcluster.node_access_plan import NodeAccess, plan_access
from trainyard.components.parallelcluster.node_metrics import metrics_policies, metrics_tag
from trainyard.components.parallelcluster.queue_context import Context, purchase_option


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeResourcePlan(NodePoolPlan):
    """Nodes of one instance type in a queue; ParallelCluster makes their launch template.

    `capacity` is that of the queue, unless the compute resource sets another reservation.
    """

    config: ComputeResource
    """The compute resource in the stack file, from which the rendering reads options that need no
    plan."""
    queue: str
    """Name of its queue."""
    minimum: int
    maximum: int
    efa_enabled: bool
    ami: ImageSource
    metrics_tag: str | None = None
    """Value of `NODE_METRICS_TAG`; None for nodes whose agent has nothing to add."""

    @property
    @override
    def key(self) -> str:
        """Key in the stack file."""
        return resource_key(self.queue, self.name, self.config)

    @property
    @override
    def image(self) -> ImageSource:
        """The AMI of the queue or the cluster, or that of ParallelCluster."""
        return self.ami

    @property
    @override
    def nodes(self) -> int:
        """Static nodes."""
        return self.minimum

    @property
    @override
    def most_nodes(self) -> int:
        """Static and dynamic nodes."""
        return self.maximum


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePlan:
    """A Slurm partition."""

    name: str
    config: Queue
    """The queue in the stack file, from which the rendering reads options that need no plan."""
    capacity: CapacityPlan
    subnets: tuple[str, ...]
    """Private subnets, as references of the `NetworkPlan`; exactly one with EFA or a reservation,
    after the account was queried."""
    compute_resources: tuple[ComputeResourcePlan, ...]
    access: NodeAccess


def plan_queue(name: str, queue: Queue, context: Context, review: Review) -> QueuePlan | None:
    """Return the plan of a queue, or None if problems make a plan impossible.

    This function records only a placement that contradicts the capacity. `queue_review` and
    `compute_resource_review` record all other problems.
    """
    place = context.place(f"architecture.queues.{name}")
    resources = [
        _compute_resource(name, resource_name, queue, place, context, review)
        for resource_name in queue.compute_resources
    ]
    planned = tuple(resource for resource in resources if resource is not None)
    if len(planned) < len(resources) or not _known(queue.purchase_option, context):
        return None
    measured = any(resource.metrics_tag for resource in planned)
    return QueuePlan(
        name=name,
        config=queue,
        capacity=context.capacity(queue.purchase_option, place),
        subnets=place.subnets,
        compute_resources=planned,
        access=plan_access(
            queue,
            context.region,
            more_policies=metrics_policies(context.config) if measured else (),
        ),
    )


def _compute_resource(
    queue_name: str,
    name: str,
    queue: Queue,
    place: PoolPlace,
    context: Context,
    review: Review,
) -> ComputeResourcePlan | None:
    resource = queue.compute_resources[name]
    instance_type = INSTANCE_TYPES.get(resource.instance_type)
    option = purchase_option(queue, resource)
    if instance_type is None or not _known(option, context):
        return None
    placement = reviewed_placement(
        resource_key(queue_name, name, resource),
        resource,
        instance_type,
        place.reservations.get(option),
        review,
        one_zone=place.one_zone,
    )
    if placement is None:
        return None
    efa = resource.efa_enabled and instance_type.efa_supported
    return ComputeResourcePlan(
        name=name,
        config=resource,
        queue=queue_name,
        instance_type=instance_type,
        subnets=place.subnets,
        # The interface layout of ParallelCluster: `efa-only`, and one interface with an address.
        interfaces=plan_interfaces(instance_type) if efa else None,
        root_volume=None,
        ami=_image(queue, instance_type, context),
        minimum=resource.minimum,
        maximum=resource.maximum,
        efa_enabled=resource.efa_enabled,
        metrics_tag=metrics_tag(context.config, measured_on(instance_type, efa=efa)),
        capacity=context.capacity(option, place),
        placement=placement,
    )


def _known(option: str, context: Context) -> bool:
    return option in purchase_options(context.config.reservations)


def _image(queue: Queue, instance_type: InstanceType, context: Context) -> ImageSource:
    architecture = context.config.architecture
    own = queue.custom_ami_id or architecture.custom_ami_id
    name = official_image_name(
        PARALLELCLUSTER_VERSION, architecture.operating_system, instance_type.architecture
    )
    return ImageSource(image_id=own) if own or name is None else ImageSource(name=name)
