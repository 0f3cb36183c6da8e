"""Checks of a compute resource beyond its schema.

Source of the limits: `trainyard.components.catalog.parallelcluster`; names in parentheses are
validators of ParallelCluster, which would report the same problems only during the deployment.
"""

from __future__ import annotations

from trainyard.components.capacity.pool_review import (
    note_unlisted_zone,
    review_efa_support,
    review_instance_type,
    review_purchase_option,
    review_usage_class,
)
from trainyard.components.catalog.instance_type import InstanceType
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.parallelcluster import (
    FORBIDDEN_NAME,
)
from trainyard.components.config.parallelcluster import resource_key
from trainyard.components.config.parallelcluster_nodes import ComputeResource, Queue
from trainyard.components.config.reservations import CapacityBlock
from trainyard.components.config.review import Review
from trainyard.components.parallelcluster.queue_context import Context, purchase_option
from trainyard.components.parallelcluster.slurm_review import review_settings


def review_compute_resource(
    queue_name: str, name: str, queue: Queue, context: Context, review: Review
) -> None:
    """Record problems of a compute resource in the stack file."""
    resource = queue.compute_resources[name]
    key = resource_key(queue_name, name, resource)
    if name == FORBIDDEN_NAME:
        review.refuse(
            key,
            "has a name that ParallelCluster does not allow (NameValidator)",
            remedy="rename it",
        )
    if resource.purchase_option is not None:
        review_purchase_option(review, key, resource.purchase_option, context.config.reservations)
    _review_sizes(key, queue, resource, context, review)
    review_settings(f"{key}.slurm_settings", resource.slurm_settings, "node", review)
    found = review_instance_type(review, key, resource.instance_type)
    if found is None:
        return
    option, where = purchase_option(queue, resource), f"{queue_name}/{name}"
    at = key if resource.purchase_option is not None else f"architecture.queues.{queue_name}"
    review_usage_class(review, at, option, context.config.reservations, found)
    if resource.efa_enabled:
        review_efa_support(review, key, found)
    _review_architecture(key, found, context, review)
    _review_memory(key, resource, found, review)
    zone = context.place(f"architecture.queues.{queue_name}").zone
    note_unlisted_zone(review, f"compute resource {where}", zone, found)


def _review_sizes(
    key: str, queue: Queue, resource: ComputeResource, context: Context, review: Review
) -> None:
    if resource.minimum > resource.maximum:
        review.refuse(
            f"{key}.minimum",
            f"is more than `maximum`, {resource.maximum} (ComputeResourceSizeValidator)",
            found=resource.minimum,
            allowed=f"at most {resource.maximum}",
            remedy=review.set_command(f"{key}.maximum", str(resource.minimum)),
            rules=("E9",),
        )
        return
    block = isinstance(
        context.config.reservations.get(purchase_option(queue, resource)), CapacityBlock
    )
    if block and resource.minimum != resource.maximum:
        review.refuse(
            f"{key}.minimum",
            (
                "is not equal to `maximum`: ParallelCluster manages all instances of a Capacity "
                "Block as static nodes (ComputeResourceSizeValidator)"
            ),
            found=resource.minimum,
            allowed=str(resource.maximum),
            remedy=review.set_command(f"{key}.minimum", str(resource.maximum)),
            rules=("D5",),
        )


def _review_architecture(key: str, found: InstanceType, context: Context, review: Review) -> None:
    head = INSTANCE_TYPES.get(context.config.architecture.head_node.instance_type)
    if head is None or head.architecture == found.architecture:
        return
    review.refuse(
        f"{key}.instance_type",
        (
            f"is {found.architecture}, but the head node, {head.name}, is {head.architecture}; all "
            "nodes use the same AMI (InstanceArchitectureCompatibilityValidator)"
        ),
        found=found.name,
        allowed=f"a type with {head.architecture}",
        remedy="change this type, or `architecture.head_node.instance_type`",
        rules=("E4",),
    )


def _review_memory(
    key: str, resource: ComputeResource, found: InstanceType, review: Review
) -> None:
    wanted = resource.schedulable_memory_mib
    if wanted is None or wanted <= found.memory_mib:
        return
    review.refuse(
        f"{key}.schedulable_memory_mib",
        f"is more than {found.name} has (SchedulableMemoryValidator)",
        found=wanted,
        allowed=f"at most {found.memory_mib}; if omitted, 95 % of that",
        remedy=review.set_command(
            f"{key}.schedulable_memory_mib", str(found.memory_mib * 95 // 100)
        ),
    )
