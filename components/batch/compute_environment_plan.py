"""The plan of a compute environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from typing_extensions import override

from trainyard.components.capacity.placement_review import reviewed_placement
from trainyard.components.capacity.plan import SchedulePlan
from trainyard.components.capacity.pool_review import purchase_options
from trainyard.components.capacity.schedule import plan_schedule
from trainyard.components.catalog.batch import ImageType, image_parameter, image_type
from trainyard.components.catalog.instance_type import InstanceType
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.compute.interface_plan import InterfacePlan, plan_pool_interfaces
from trainyard.components.compute.node_pool_plan import ImageSource, NodePoolPlan
from trainyard.components.compute.root_volume import RootVolume, plan_root_volume
from trainyard.components.config.batch import ComputeEnvironment
from trainyard.components.config.batch_stack import BatchStackConfig
from trainyard.components.config.node_pool import NodeSizes
from trainyard.components.config.reservations import Reservation
from trainyard.components.config.review import Review
from trainyard.components.monitoring.node_agent import agent_access, agent_script, measured_on
from trainyard.components.naming import managed_policy_arns
from trainyard.components.network.pool_place import PlanContext

Context = PlanContext[BatchStackConfig]
INTERFACES_OF_JOBS = 1
"""Slots of card 0 that a container of a multi-node parallel job needs for its own interface.

https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeEnvironmentPlan(NodePoolPlan):
    """A compute environment, the launch template of its nodes and its job queue."""

    config: ComputeEnvironment
    """The compute environment in the stack file. Its resources read from it the options that need
    no plan."""
    schedule: SchedulePlan
    """When a Capacity Block opens and closes it: `scale_up_at` and `scale_down_at`."""
    minimum_vcpus: int
    maximum_vcpus: int
    image_type: ImageType | None
    """`Ec2Configuration.imageType`; None with a custom AMI."""
    allocation_strategy: Literal["BEST_FIT_PROGRESSIVE", "SPOT_PRICE_CAPACITY_OPTIMIZED"]
    """Batch supports in-place updates with these strategies, but not with `BEST_FIT`."""
    root_volume: RootVolume
    local_nvme: Literal["raid0", "none"]
    iam_policies: tuple[str, ...]
    """ARNs of AWS managed policies of the node role, in addition to that of ECS."""
    agent_script: str | None = None
    """Shell script that configures the CloudWatch agent; None for nodes without it."""

    @property
    def is_open(self) -> bool:
        """Whether jobs start in it now; those of a closed one wait in the queue."""
        return self.schedule.state in ("unlimited", "active")

    @property
    def has_queue(self) -> bool:
        """Whether it has a job queue; the nodes of further blocks use that of the first one."""
        return self.pool == self.name

    @property
    @override
    def key(self) -> str:
        """Key in the stack file."""
        return f"architecture.compute_environments.{self.pool}"

    @property
    @override
    def image(self) -> ImageSource:
        """The ECS-optimized AMI, or the one in the stack file."""
        if self.config.custom_ami_id is None and self.image_type is not None:
            architecture = self.instance_type.architecture
            return ImageSource(parameter=image_parameter(self.image_type, architecture))
        return ImageSource(image_id=self.config.custom_ami_id)

    @property
    @override
    def nodes(self) -> int:
        """Nodes that run without jobs."""
        return self.minimum_vcpus // self.instance_type.vcpus

    @property
    @override
    def most_nodes(self) -> int:
        """Nodes that jobs can launch."""
        return self.maximum_vcpus // self.instance_type.vcpus


def plan_compute_environment(
    name: str, environment: ComputeEnvironment, context: Context, review: Review
) -> ComputeEnvironmentPlan | None:
    """Return the plan of a compute environment, or None if problems make a plan impossible.

    This function records only a placement that contradicts the capacity.
    `trainyard.components.batch.compute_environment_review` records all other problems.
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
    interfaces = plan_pool_interfaces(
        environment, instance_type, spare_on_card_zero=INTERFACES_OF_JOBS
    )
    script = _agent_script(instance_type, interfaces, context)
    access = agent_access(context.config) if script else None
    policies = (*environment.iam_policies, *((access.policy,) if access else ()))
    schedule = environment_schedule(environment, reservation, context)
    return ComputeEnvironmentPlan(
        name=name,
        config=environment,
        instance_type=instance_type,
        capacity=context.capacity(environment.purchase_option, place),
        placement=placement,
        interfaces=interfaces,
        subnets=place.subnets,
        schedule=schedule,
        minimum_vcpus=schedule.minimum * instance_type.vcpus,
        maximum_vcpus=environment.maximum * instance_type.vcpus,
        image_type=None if environment.image == "custom" else image_type(instance_type),
        allocation_strategy="SPOT_PRICE_CAPACITY_OPTIMIZED" if spot else "BEST_FIT_PROGRESSIVE",
        root_volume=plan_root_volume(environment.root_volume),
        local_nvme=environment.local_nvme if instance_type.local_nvme_disks else "none",
        iam_policies=managed_policy_arns(policies, context.region),
        agent_script=script,
        ssh_key_name=environment.ssh_key_name,
    )


def _agent_script(
    instance_type: InstanceType, interfaces: InterfacePlan | None, context: Context
) -> str | None:
    measured = measured_on(instance_type, efa=interfaces is not None)
    if measured is None or context.config.node_metrics is None:
        return None
    return agent_script(context.config, measured)


def environment_schedule(
    environment: ComputeEnvironment, reservation: Reservation | None, context: Context
) -> SchedulePlan:
    """Return when jobs start, and the minimum number of nodes: none outside of a Capacity Block.

    Batch has no scheduled scaling. It launches nodes whenever there are jobs, as long as the
    compute environment is enabled.
    """
    least = min(environment.minimum, environment.maximum)
    sizes = NodeSizes(minimum=least, desired=least, maximum=environment.maximum)
    return plan_schedule(sizes, reservation, context.now, instance_type=environment.instance_type)
