"""The plan of a compute environment."""

from __future__ import annotations

from components.batch.plan import ComputeEnvironmentPlan
from components.capacity.placement_review import reviewed_placement
from components.capacity.plan import SchedulePlan
from components.capacity.pool_review import purchase_options
from components.capacity.schedule import plan_schedule
from components.catalog.batch import image_type
from components.catalog.instance_types import INSTANCE_TYPES
from components.compute.interface_plan import plan_pool_interfaces
from components.compute.root_volume import plan_root_volume
from components.config.batch import ComputeEnvironment
from components.config.batch_stack import BatchStackConfig
from components.config.node_pool import NodeSizes
from components.config.reservations import Reservation
from components.config.review import Review
from components.naming import managed_policy_arns
from components.network.pool_place import PlanContext

Context = PlanContext[BatchStackConfig]
INTERFACES_OF_JOBS = 1
"""Slots of card 0 that a container of a multi-node parallel job needs for its own interface.

https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
"""


def plan_compute_environment(
    name: str, environment: ComputeEnvironment, context: Context, review: Review
) -> ComputeEnvironmentPlan | None:
    """Return the plan of a compute environment, or None if problems make a plan impossible.

    This function records only a placement that contradicts the capacity.
    `components.batch.compute_environment_review` records all other problems.
    """
    reservations = context.config.reservations
    instance_type = INSTANCE_TYPES.get(environment.instance_type)
    if instance_type is None or environment.purchase_option not in purchase_options(reservations):
        return None
    place = context.place(f"architecture.compute_environments.{name}")
    reservation = reservations.get(environment.purchase_option)
    placement = reviewed_placement(
        place.key, environment, instance_type, reservation, review, one_zone=place.one_zone
    )
    if placement is None:
        return None
    spot = environment.purchase_option == "spot"
    schedule = environment_schedule(environment, reservation, context)
    return ComputeEnvironmentPlan(
        name=name,
        instance_type=instance_type,
        capacity=context.capacity(environment.purchase_option, place),
        placement=placement,
        interfaces=plan_pool_interfaces(
            environment, instance_type, spare_on_card_zero=INTERFACES_OF_JOBS
        ),
        subnets=place.subnets,
        minimum_vcpus=schedule.minimum * instance_type.vcpus,
        maximum_vcpus=environment.maximum * instance_type.vcpus,
        image_type=None if environment.image == "custom" else image_type(instance_type),
        custom_ami_id=environment.custom_ami_id,
        allocation_strategy="SPOT_PRICE_CAPACITY_OPTIMIZED" if spot else "BEST_FIT_PROGRESSIVE",
        root_volume=plan_root_volume(environment.root_volume),
        local_nvme=environment.local_nvme if instance_type.local_nvme_disks else "none",
        iam_policies=managed_policy_arns(environment.iam_policies, context.region),
        ssh_key_name=environment.ssh_key_name,
        queue_priority=environment.queue_priority,
    )


def environment_schedule(
    environment: ComputeEnvironment, reservation: Reservation | None, context: Context
) -> SchedulePlan:
    """Return the minimum number of nodes: none before a Capacity Block starts and at its end.

    Batch has no scheduled scaling. It launches nodes whenever there are jobs.
    """
    least = min(environment.minimum, environment.maximum)
    sizes = NodeSizes(minimum=least, desired=least, maximum=environment.maximum)
    return plan_schedule(sizes, reservation, context.now)
