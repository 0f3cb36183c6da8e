"""Checks of a compute environment beyond its schema.

Nothing here queries the account; `trainyard.components.account` does.
"""

from __future__ import annotations

from trainyard.components.batch.compute_environment_plan import Context, environment_schedule
from trainyard.components.capacity.pool_review import (
    note_unlisted_zone,
    review_efa_support,
    review_instance_type,
    review_purchase_option,
    review_usage_class,
)
from trainyard.components.capacity.schedule import minutes_before_end
from trainyard.components.catalog.batch import (
    MINIMUM_ROOT_VOLUME_GIB,
    MOST_ENVIRONMENTS_OF_QUEUE,
    MOST_VCPUS,
    image_type,
)
from trainyard.components.catalog.instance_type import InstanceType
from trainyard.components.config.batch import ComputeEnvironment
from trainyard.components.config.reservations import CapacityBlock
from trainyard.components.config.review import Review
from trainyard.components.network.pool_place import PoolPlace
from trainyard.components.network.pool_place_review import (
    review_missing_zone,
    review_pool_subnet,
    review_pool_zone,
)


def review_compute_environment(
    name: str, environment: ComputeEnvironment, context: Context, review: Review
) -> None:
    """Record problems of a compute environment in the stack file."""
    place = context.place(f"architecture.compute_environments.{name}")
    key, reservations = place.key, context.config.reservations
    found = review_instance_type(review, key, environment.instance_type)
    review_purchase_option(review, key, environment.purchase_option, reservations)
    if found is not None:
        review_usage_class(review, key, environment.purchase_option, reservations, found)
        if environment.efa_enabled and review_efa_support(review, key, found):
            review_missing_zone(place, environment.purchase_option, found, context, review)
        note_unlisted_zone(review, place.name, place.zone, found)
        _review_drivers(key, environment, found, review)
        _review_most_vcpus(key, environment, found, review)
    review_pool_zone(place, context.region, review, what="this compute environment")
    review_pool_subnet(place, context.config.network, review)
    _review_sizes(key, environment, review)
    _review_blocks(key, environment, review)
    _review_image(key, environment, review)
    _note_block(place, environment, context, review)


def _review_sizes(key: str, environment: ComputeEnvironment, review: Review) -> None:
    if environment.minimum <= environment.maximum:
        return
    review.refuse(
        f"{key}.minimum",
        (
            f"is more than `maximum`, {environment.maximum}; Batch rejects a minvCpus greater than "
            "maxvCpus"
        ),
        found=environment.minimum,
        allowed=f"0 to {environment.maximum}",
        remedy=review.set_command(f"{key}.minimum", str(environment.maximum)),
        rules=("G4", "E9"),
    )


def _review_blocks(key: str, environment: ComputeEnvironment, review: Review) -> None:
    most = MOST_ENVIRONMENTS_OF_QUEUE - 1
    if len(environment.further_blocks) > most:
        review.refuse(
            f"{key}.further_blocks",
            (
                "has more blocks than a job queue can use: Batch attaches at most "
                f"{MOST_ENVIRONMENTS_OF_QUEUE} compute environments to a queue"
            ),
            found=", ".join(environment.further_blocks),
            allowed=f"at most {most}",
            remedy="remove those that are over",
        )


def _review_most_vcpus(
    key: str, environment: ComputeEnvironment, found: InstanceType, review: Review
) -> None:
    most = MOST_VCPUS // found.vcpus
    if environment.maximum > most:
        review.refuse(
            f"{key}.maximum",
            (
                f"is more nodes than the maxvCpus of Batch allows: {found.name} has {found.vcpus} "
                "vCPUs"
            ),
            found=environment.maximum,
            allowed=f"at most {most}",
            remedy=review.set_command(f"{key}.maximum", "1000"),
            rules=("G4",),
        )


def _review_image(key: str, environment: ComputeEnvironment, review: Review) -> None:
    custom = environment.image == "custom"
    if custom and environment.custom_ami_id is None:
        review.refuse(
            f"{key}.custom_ami_id",
            "is missing, and `image` is custom",
            allowed="an AMI with the ECS agent and the drivers of the instance type",
            remedy=review.set_command(f"{key}.custom_ami_id", "ami-…"),
            rules=("E16",),
        )
    if not custom and environment.custom_ami_id is not None:
        review.refuse(
            f"{key}.image",
            "is auto, but `custom_ami_id` is set; Batch would use a different AMI",
            found=environment.image,
            allowed="custom, or no `custom_ami_id`",
            remedy=review.set_command(f"{key}.image", "custom"),
            rules=("E16",),
        )
    size = environment.root_volume.size_gib
    if not custom and size < MINIMUM_ROOT_VOLUME_GIB:
        review.refuse(
            f"{key}.root_volume.size_gib",
            "is less than the ECS-optimized AMIs need; no node would launch",
            found=size,
            allowed=f"{MINIMUM_ROOT_VOLUME_GIB} or more",
            remedy=review.set_command(f"{key}.root_volume.size_gib", str(MINIMUM_ROOT_VOLUME_GIB)),
            rules=("E16",),
        )


def _review_drivers(
    key: str, environment: ComputeEnvironment, found: InstanceType, review: Review
) -> None:
    if environment.image == "custom" or image_type(found) is not None:
        return
    ami = review.set_command(f"{key}.custom_ami_id", "ami-…")
    nvidia = found.accelerators is not None and found.accelerators.manufacturer == "nvidia"
    driver = "NVIDIA" if nvidia else "Neuron"
    review.refuse(
        f"{key}.image",
        f"is auto, but Batch has no {found.architecture} AMI with the {driver} driver that "
        f"{found.name} needs",
        found=environment.image,
        allowed=(
            "custom, with `custom_ami_id`: an image with the ECS agent and the driver, such as the "
            "ECS-optimized Neuron AMI of the region, which "
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/"
            "retrieve-ecs-optimized_AMI.html explains how to find"
        ),
        remedy=f"{review.set_command(f'{key}.image', 'custom')}; {ami}",
        rules=("E5",),
    )


def _note_block(
    place: PoolPlace, environment: ComputeEnvironment, context: Context, review: Review
) -> None:
    """Note when nodes of a Capacity Block start and stop.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html
    """
    block = place.reservations.get(environment.purchase_option)
    if not isinstance(block, CapacityBlock):
        return
    state = environment_schedule(environment, block, context).state
    if state == "scheduled" and block.starts_at is not None:
        later = (
            f"; for the {environment.minimum} nodes of `minimum` run `up` again then"
            if environment.minimum
            else ""
        )
        review.note(
            f"{place.name}: the Capacity Block starts at {block.starts_at:%Y-%m-%d %H:%M} UTC; "
            f"jobs wait in the queue until the compute environment opens then{later}"
        )
    if state != "unlimited" and block.ends_at is not None:
        leave, terminated = minutes_before_end(environment.instance_type)
        review.note(
            f"{place.name}: the Capacity Block ends at {block.ends_at:%Y-%m-%d %H:%M} UTC; the "
            f"compute environment closes {leave} earlier for jobs that have not started, which "
            f"wait in the queue for the next block. EC2 begins to terminate its nodes {terminated} "
            "before the end, with the jobs on them"
        )
