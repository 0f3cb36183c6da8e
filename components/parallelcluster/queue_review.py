"""Checks of a queue beyond its schema.

Nothing here queries the account; `trainyard.components.account` does. Names in parentheses are
validators of ParallelCluster.
"""

from __future__ import annotations

from trainyard.components.capacity.pool_review import purchase_options, review_purchase_option
from trainyard.components.capacity.purchase import plan_capacity
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.parallelcluster import (
    FORBIDDEN_NAME,
    MAXIMUM_COMPUTE_RESOURCES,
    MAXIMUM_QUEUES,
)
from trainyard.components.config.parallelcluster import ParallelClusterArchitecture, resource_key
from trainyard.components.config.parallelcluster_nodes import Queue
from trainyard.components.config.review import Review
from trainyard.components.parallelcluster.access_review import review_access
from trainyard.components.parallelcluster.compute_resource_review import review_compute_resource
from trainyard.components.parallelcluster.queue_context import Context
from trainyard.components.parallelcluster.queue_place_review import review_place
from trainyard.components.parallelcluster.root_volume_review import review_root_volume
from trainyard.components.parallelcluster.slurm_review import review_settings


def review_queue(name: str, queue: Queue, context: Context, review: Review) -> None:
    """Record problems of a queue and its compute resources."""
    key = f"architecture.queues.{name}"
    if name == FORBIDDEN_NAME:
        review.refuse(
            key,
            "has a name that ParallelCluster does not allow (NameValidator)",
            remedy="rename it",
        )
    review_purchase_option(review, key, queue.purchase_option, context.config.reservations)
    review_place(name, queue, context, review)
    _review_markets(name, queue, context, review)
    _review_allocation_strategy(key, queue, context, review)
    _review_devices(name, queue, review)
    review_settings(f"{key}.slurm_settings", queue.slurm_settings, "partition", review)
    review_access(key, queue, context.config, review)
    custom_ami = queue.custom_ami_id or context.config.architecture.custom_ami_id
    review_root_volume(key, queue.root_volume, custom_ami, review)
    for resource_name in queue.compute_resources:
        review_compute_resource(name, resource_name, queue, context, review)


def review_counts(architecture: ParallelClusterArchitecture, review: Review) -> None:
    """Refuse more queues or compute resources than a cluster supports."""
    queues = architecture.queues
    resources = sum(len(queue.compute_resources) for queue in queues.values())
    for noun, count, limit in (
        ("queues", len(queues), MAXIMUM_QUEUES),
        ("compute resources, over all queues,", resources, MAXIMUM_COMPUTE_RESOURCES),
    ):
        if count > limit:
            review.refuse(
                "architecture.queues",
                f"has more {noun} than ParallelCluster supports (MaxCountValidator)",
                found=count,
                allowed=f"at most {limit}",
                remedy="remove some, or create a second cluster",
                rules=("E17",),
            )


def _review_markets(queue_name: str, queue: Queue, context: Context, review: Review) -> None:
    """Refuse a compute resource with another market type than its queue, which has only one."""
    reservations = context.config.reservations
    options = purchase_options(reservations)
    if queue.purchase_option not in options:
        return
    market = plan_capacity(queue.purchase_option, reservations).market_type
    for name, resource in queue.compute_resources.items():
        own = resource.purchase_option
        if own is None or own not in options:
            continue
        if plan_capacity(own, reservations).market_type != market:
            review.refuse(
                f"{resource_key(queue_name, name, resource)}.purchase_option",
                (
                    f"uses a different purchase option from its queue, `{queue.purchase_option}`; "
                    "`CapacityType` applies to the whole queue"
                ),
                found=own,
                allowed=", ".join(
                    each
                    for each in options
                    if plan_capacity(each, reservations).market_type == market
                ),
                remedy=(
                    "move the compute resource to a separate queue, or set "
                    f"`architecture.queues.{queue_name}.purchase_option` to `{own}`"
                ),
            )


def _review_allocation_strategy(key: str, queue: Queue, context: Context, review: Review) -> None:
    strategy = queue.allocation_strategy
    reserved = list(context.place(key).reservations)
    if strategy is None:
        return
    if reserved:
        review.refuse(
            f"{key}.allocation_strategy",
            f"selects among capacity pools, but `{reserved[0]}` is one reservation "
            "(CapacityReservationValidator, InstancesAllocationStrategyValidator)",
            found=strategy,
            allowed="none with a reservation",
            remedy=f"remove `allocation_strategy` of {key}",
            rules=("D7",),
        )
    elif queue.purchase_option == "on-demand" and strategy != "lowest-price":
        review.refuse(
            f"{key}.allocation_strategy",
            "is a strategy for Spot capacity (InstancesAllocationStrategyValidator)",
            found=strategy,
            allowed="lowest-price, or `purchase_option: spot`",
            remedy=review.set_command(f"{key}.allocation_strategy", "lowest-price"),
            rules=("C14",),
        )


def _review_devices(name: str, queue: Queue, review: Review) -> None:
    resources = queue.compute_resources.values()
    found = [INSTANCE_TYPES.get(resource.instance_type) for resource in resources]
    types = [each for each in found if each is not None]
    if len(types) < len(found):
        return  # an unknown type is refused separately
    key = f"architecture.queues.{name}"
    if queue.gpu_health_check and not any(each.has_nvidia_gpus for each in types):
        review.refuse(
            f"{key}.gpu_health_check",
            "is on, but no compute resource of the queue has an NVIDIA GPU to test",
            found=True,
            allowed="false",
            remedy=review.set_command(f"{key}.gpu_health_check", "false"),
        )
    if "scratch_directory" in queue.model_fields_set and not any(
        each.local_nvme_disks for each in types
    ):
        review.note(
            f"queue {name}: `scratch_directory` has no effect, because its instance types have no "
            "NVMe instance store volumes"
        )
