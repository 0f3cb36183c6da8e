"""Plans and checks of queues and their compute resources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override

from trainyard.components.capacity.placement_review import reviewed_placement
from trainyard.components.capacity.plan import CapacityPlan
from trainyard.components.capacity.pool_review import (
    note_unlisted_zone,
    purchase_options,
    review_efa_support,
    review_instance_type,
    review_purchase_option,
    review_reserved_zone,
    review_usage_class,
    review_zone_region,
)
from trainyard.components.capacity.purchase import plan_capacity
from trainyard.components.catalog.instance_types import INSTANCE_TYPES, InstanceType, Manufacturer
from trainyard.components.catalog.parallelcluster import (
    FORBIDDEN_NAME,
    MAXIMUM_COMPUTE_RESOURCES,
    MAXIMUM_QUEUES,
    official_image_name,
)
from trainyard.components.catalog.post_install_scripts import script_supports
from trainyard.components.catalog.versions import PARALLELCLUSTER_VERSION
from trainyard.components.compute.interface_plan import plan_interfaces
from trainyard.components.compute.node_pool_plan import ImageSource, NodePoolPlan
from trainyard.components.config.base import same_kind_of_zone
from trainyard.components.config.network import ExistingVpc
from trainyard.components.config.parallelcluster import (
    ComputeResource,
    ParallelClusterArchitecture,
    ParallelClusterStackConfig,
    Queue,
    resource_key,
)
from trainyard.components.config.problems import Review
from trainyard.components.config.reservations import CapacityBlock
from trainyard.components.monitoring.node_agent import measured_on
from trainyard.components.network.pool_place import (
    PlanContext,
    PoolPlace,
    candidate_zones,
    refuse_missing_zone,
)
from trainyard.components.parallelcluster.node_metrics import metrics_policies, metrics_tag
from trainyard.components.parallelcluster.node_scripts import (
    NodeAccess,
    installed_drivers,
    plan_access,
    review_access,
)
from trainyard.components.parallelcluster.root_volume_review import review_root_volume
from trainyard.components.parallelcluster.slurm_review import review_settings

Context = PlanContext[ParallelClusterStackConfig]


def purchase_option(queue: Queue, resource: ComputeResource) -> str:
    """Return the purchase option of a compute resource: its own, else that of its queue."""
    return resource.purchase_option or queue.purchase_option


def needs_one_subnet(queue: Queue, place: PoolPlace) -> bool:
    """Return whether a queue must have exactly one subnet: with EFA, or a reservation by id.

    ParallelCluster launches a queue with several subnets through EC2 Fleet, which does not accept a
    reservation id.
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html, `SubnetIds` and
    `CapacityReservationId`
    """
    by_id = any(each.kind != "odcr-group" for each in place.reservations.values())
    return by_id or any(each.efa_enabled for each in queue.compute_resources.values())


# Checks of a compute resource beyond its schema.
#
# Source of the limits: `trainyard.components.catalog.parallelcluster`; names in parentheses are
# validators of ParallelCluster, which would report the same problems only during the deployment.


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
            remedy="rename it to `main`, or to another name",
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


_HEAD_NODES = {"x86_64": "m5.8xlarge", "arm64": "m7g.8xlarge"}
"""A type for a head node, by architecture: the default, and its successor with Graviton."""


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
        remedy="change this type, or that of the head node: "
        + review.set_command(
            "architecture.head_node.instance_type", _HEAD_NODES[found.architecture]
        ),
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


def review_place(name: str, queue: Queue, context: Context, review: Review) -> None:
    """Record problems of the zone and the subnets of a queue in the stack file."""
    key = f"architecture.queues.{name}"
    place = context.place(key)
    review_zone_region(review, key, queue.availability_zone, context.region)
    _review_reserved_zones(place, review)
    _review_subnets(key, queue, context, review)
    _review_several_subnets(place, queue, review)
    _review_missing_zone(place, queue, context, review)


def _review_reserved_zones(place: PoolPlace, review: Review) -> None:
    reserved = {
        option: found.availability_zone
        for option, found in place.reservations.items()
        if found.availability_zone is not None
    }
    own = place.availability_zone
    if own is not None:
        for option, zone in reserved.items():
            review_reserved_zone(review, place.key, own, option, zone, what="this queue")
        return
    pairs = list(reserved.items())
    for option, other in pairs[1:]:
        first, zone = pairs[0]
        if same_kind_of_zone(zone, other) and zone != other:
            review.refuse(
                f"{place.key}.compute_resources",
                (
                    "use reservations in two zones, but the nodes of a queue with a reservation "
                    "launch in one subnet"
                ),
                found=f"`{first}` in {zone}, `{option}` in {other}",
                allowed="reservations in one zone",
                remedy="use a separate queue for each reservation",
            )


def _review_subnets(key: str, queue: Queue, context: Context, review: Review) -> None:
    subnets, network = queue.subnet_ids, context.config.network
    if not subnets:
        return
    key = f"{key}.subnet_ids"
    if not isinstance(network, ExistingVpc):
        review.refuse(
            key,
            "names subnets, but the stack creates the subnets of a new VPC itself",
            found=", ".join(subnets),
            allowed=f"`availability_zone`: {', '.join(network.availability_zones)}",
            remedy="remove it, and set `availability_zone`",
            rules=("E13",),
        )
        return
    if queue.availability_zone is not None:
        review.refuse(
            key,
            "is given together with `availability_zone`; a subnet already determines the zone",
            found=", ".join(subnets),
            allowed="one of `subnet_ids` and `availability_zone`",
            remedy="remove one of the two",
            rules=("E13",),
        )
    _review_listed(key, subnets, network, review)


def _review_listed(key: str, subnets: Sequence[str], network: ExistingVpc, review: Review) -> None:
    if len(set(subnets)) < len(subnets):
        review.refuse(
            key,
            "lists a subnet twice, which ParallelCluster rejects (QueueSubnetsValidator)",
            found=", ".join(subnets),
            remedy=review.remove_repeated(key, subnets),
            rules=("E3",),
        )
    listed = (*network.private_subnet_ids, *(subnets if network.is_unread else ()))
    foreign = [subnet for subnet in subnets if subnet not in listed]
    public = [subnet for subnet in foreign if subnet in network.public_subnet_ids]
    if foreign:
        review.refuse(
            key,
            (
                "has a public subnet; nodes run in private ones, and an instance with several "
                "interfaces gets no public IP address"
                if public
                else "has a subnet that is not one of `network.private_subnet_ids`"
            ),
            found=", ".join(public or foreign),
            allowed=", ".join(network.private_subnet_ids),
            remedy=review.set_command(f"{key}[0]", network.private_subnet_ids[0]),
            rules=("A10",),
        )


def _review_several_subnets(place: PoolPlace, queue: Queue, review: Review) -> None:
    if len(set(queue.subnet_ids)) < 2 or not needs_one_subnet(queue, place):
        return
    efa = [name for name, each in queue.compute_resources.items() if each.efa_enabled]
    review.refuse(
        place.subnet_key,
        (
            f"has several subnets, but {', '.join(efa)} uses EFA, whose traffic cannot leave a "
            "zone (EfaMultiAzValidator)"
            if efa
            else "has several subnets, but a reservation by id needs exactly one subnet "
            "(SingleInstanceTypeSubnetValidator)"
        ),
        found=", ".join(queue.subnet_ids),
        allowed="one subnet",
        remedy=f"keep the one in the zone of the capacity, such as the first: "
        f"{review.remove_after_first(place.subnet_key, queue.subnet_ids)}"
        + ("; or disable EFA" if efa else ""),
        rules=("A6",),
    )


def _review_missing_zone(place: PoolPlace, queue: Queue, context: Context, review: Review) -> None:
    efa = [each for each in queue.compute_resources.values() if each.efa_enabled]
    options = purchase_options(context.config.reservations)
    # An unknown purchase option is refused separately; the intended one may set the zone.
    wanted = [each.purchase_option or queue.purchase_option for each in efa]
    known = all(option in options for option in wanted)
    if not efa or not known or queue.subnet_ids or place.one_zone:
        return
    found = INSTANCE_TYPES.get(efa[0].instance_type)
    zones = None
    if found is not None:
        zones = candidate_zones(
            found, context.config.network, context.offered_zones, subnet_key="subnet_ids"
        )
    refuse_missing_zone(place.key, zones, review)


# Checks of a queue beyond its schema.
#
# Nothing here queries the account; `trainyard.components.account` does. Names in parentheses are
# validators of ParallelCluster.


def review_queue(name: str, queue: Queue, context: Context, review: Review) -> None:
    """Record problems of a queue and its compute resources."""
    key = f"architecture.queues.{name}"
    if name == FORBIDDEN_NAME:
        review.refuse(
            key,
            "has a name that ParallelCluster does not allow (NameValidator)",
            remedy="rename it to `main`, or to another name",
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
                remedy=f"{_fewer(architecture, count - limit, review)}, or create a second cluster",
                rules=("E17",),
            )


def _fewer(architecture: ParallelClusterArchitecture, above: int, review: Review) -> str:
    """Return the commands that remove the last compute resources, or queues with only one."""
    removed: list[str] = []
    for name, queue in reversed(architecture.queues.items()):
        own = [*queue.compute_resources]
        key = f"architecture.queues.{name}"
        if len(own) == 1:
            removed.append(key)
        removed += [f"{key}.compute_resources.{each}" for each in reversed(own[1:])]
    return f"remove some: {' and '.join(map(review.remove_command, removed[:above]))}"


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
            remedy=review.remove_command(f"{key}.allocation_strategy"),
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
    ami_key: str = ""
    """Key in the stack file of the AMI; empty for ParallelCluster's own."""
    installs: frozenset[Manufacturer] = frozenset()
    """Whose drivers a script of the nodes installs, or may install."""
    neuron_script: bool = True
    """Whether the built-in script for Neuron supports the operating system."""
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
    def image_key(self) -> str:
        """Key that decides on the AMI."""
        return self.ami_key or f"architecture.queues.{self.queue}"

    @override
    def may_install(self, driver: Manufacturer) -> bool:
        """Return whether a script of the nodes installs a driver, or may do so."""
        return driver in self.installs

    @override
    def driver_remedy(self, driver: Manufacturer) -> str:
        """Return what to do if the AMI lacks a driver."""
        if driver == "neuron" and self.neuron_script:
            return (
                f"add `{{script: neuron}}` to architecture.queues.{self.queue}.custom_actions."
                "on_node_configured, or give a `custom_ami_id` with the driver"
            )
        if driver == "neuron":
            return "give a `custom_ami_id` with the driver, or choose another operating_system"
        return (
            "remove `custom_ami_id`, because ParallelCluster's own images have the driver, or give "
            "an image that was built from one of them"
        )

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

    This function records only a placement that contradicts the capacity. The reviews of
    queues and compute resources record all other problems.
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
        ami_key=_image_key(queue_name, queue, context),
        installs=installed_drivers(queue),
        neuron_script=script_supports("neuron", context.config.architecture.operating_system),
        minimum=resource.minimum,
        maximum=resource.maximum,
        efa_enabled=resource.efa_enabled,
        metrics_tag=metrics_tag(context.config, measured_on(instance_type, efa=efa)),
        capacity=context.capacity(option, place),
        placement=placement,
    )


def _known(option: str, context: Context) -> bool:
    return option in purchase_options(context.config.reservations)


def _image_key(queue_name: str, queue: Queue, context: Context) -> str:
    if queue.custom_ami_id is not None:
        return f"architecture.queues.{queue_name}.custom_ami_id"
    return "architecture.custom_ami_id" if context.config.architecture.custom_ami_id else ""


def _image(queue: Queue, instance_type: InstanceType, context: Context) -> ImageSource:
    architecture = context.config.architecture
    own = queue.custom_ami_id or architecture.custom_ami_id
    name = official_image_name(
        PARALLELCLUSTER_VERSION, architecture.operating_system, instance_type.architecture
    )
    return ImageSource(image_id=own) if own or name is None else ImageSource(name=name)
