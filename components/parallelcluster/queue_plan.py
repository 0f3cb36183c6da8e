"""The plan of a queue."""

from __future__ import annotations

from dataclasses import replace

from components.capacity.placement_review import reviewed_placement
from components.capacity.plan import CapacityPlan, PlacementPlan
from components.capacity.pool_review import purchase_options
from components.capacity.purchase import plan_capacity
from components.catalog.instance_type import InstanceType
from components.catalog.instance_types import INSTANCE_TYPES
from components.config.parallelcluster_nodes import ComputeResource, Queue
from components.config.review import Review
from components.parallelcluster.node_access_plan import plan_access
from components.parallelcluster.plan import ComputeResourcePlan, QueuePlan
from components.parallelcluster.queue_context import (
    QueueContext,
    one_zone,
    purchase_option,
    queue_subnets,
    queue_zone,
)


def plan_queue(name: str, queue: Queue, context: QueueContext, review: Review) -> QueuePlan | None:
    """Return the plan of a queue, or None if problems make a plan impossible.

    This function records only a placement that contradicts the capacity. `queue_review` and
    `compute_resource_review` record all other problems.
    """
    resources = [
        _compute_resource(name, resource_name, queue, context, review)
        for resource_name in queue.compute_resources
    ]
    planned = tuple(resource for resource in resources if resource is not None)
    if len(planned) < len(resources) or not _known(queue.purchase_option, context):
        return None
    return QueuePlan(
        name=name,
        capacity=_capacity(queue.purchase_option, queue, context),
        subnets=queue_subnets(queue, context),
        compute_resources=planned,
        custom_ami_id=queue.custom_ami_id,
        root_volume=queue.root_volume,
        scratch_directory=queue.scratch_directory,
        exclusive_jobs=queue.exclusive_jobs,
        gpu_health_check=queue.gpu_health_check,
        allocation_strategy=queue.allocation_strategy,
        access=plan_access(queue, context.region),
        slurm_settings=dict(queue.slurm_settings),
    )


def _compute_resource(
    queue_name: str, name: str, queue: Queue, context: QueueContext, review: Review
) -> ComputeResourcePlan | None:
    resource = queue.compute_resources[name]
    instance_type = INSTANCE_TYPES.get(resource.instance_type)
    option = purchase_option(queue, resource)
    if instance_type is None or not _known(option, context):
        return None
    key = f"architecture.queues.{queue_name}.compute_resources.{name}"
    placement = _placement(key, queue, resource, instance_type, context, review)
    if placement is None:
        return None
    return ComputeResourcePlan(
        name=name,
        instance_type=instance_type,
        minimum=resource.minimum,
        maximum=resource.maximum,
        efa_enabled=resource.efa_enabled,
        capacity=_capacity(option, queue, context),
        placement=placement,
        simultaneous_multithreading=resource.simultaneous_multithreading,
        schedulable_memory_mib=resource.schedulable_memory_mib,
        slurm_settings=dict(resource.slurm_settings),
    )


def _known(option: str, context: QueueContext) -> bool:
    return option in purchase_options(context.config.reservations)


def _capacity(option: str, queue: Queue, context: QueueContext) -> CapacityPlan:
    capacity = plan_capacity(option, context.config.reservations)
    zone = capacity.availability_zone or queue_zone(queue, context)
    return replace(capacity, availability_zone=zone)


def _placement(
    key: str,
    queue: Queue,
    resource: ComputeResource,
    instance_type: InstanceType,
    context: QueueContext,
    review: Review,
) -> PlacementPlan | None:
    return reviewed_placement(
        key,
        resource,
        instance_type,
        context.reservation_of(queue, resource),
        review,
        one_zone=one_zone(queue, context),
    )
