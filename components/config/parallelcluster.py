"""The ParallelCluster architecture: the cluster, its scheduler, and how it is deployed.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html,
and the schema of the package `aws-parallelcluster`, version 3.16.1.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from trainyard.components.config.base import (
    StrictModel,
)
from trainyard.components.config.block_pools import BlockPools
from trainyard.components.config.monitoring import LogRetentionDays
from trainyard.components.config.parallelcluster_fields import (
    AmiId,
    LambdaArn,
    QueueName,
    SlurmSettings,
    TemplateUrl,
)
from trainyard.components.config.parallelcluster_nodes import ComputeResource, HeadNode, Queue
from trainyard.components.config.pools import OwnNodes, Pool
from trainyard.components.config.stack import Architecture

OperatingSystem = Literal[
    "alinux2023", "ubuntu2204", "ubuntu2404", "rhel8", "rhel9", "rocky8", "rocky9"
]


class Slurm(StrictModel):
    """The scheduler."""

    idle_minutes: Annotated[int, Field(ge=-1)] = 10
    """Minutes without a job after which Slurm terminates nodes above `minimum`. -1 keeps them."""
    queue_update_strategy: Literal["DRAIN", "TERMINATE", "COMPUTE_FLEET_STOP"] = "DRAIN"
    """What an update does with nodes that it changes: wait for their jobs to end (`DRAIN`),
    terminate them immediately (`TERMINATE`), or fail until you stop the compute fleet
    (`COMPUTE_FLEET_STOP`)."""
    scaling_strategy: Literal["all-or-nothing", "greedy-all-or-nothing", "best-effort"] = (
        "all-or-nothing"
    )
    """Whether nodes launch for a job when EC2 cannot provide all nodes that it requests."""
    memory_based_scheduling: bool = False
    """Whether Slurm schedules jobs by the memory that they request and limits them to it."""
    settings: SlurmSettings = Field(default_factory=dict)
    """Additional parameters of `slurm.conf`."""


class Monitoring(StrictModel):
    """Metrics, logs and alarms in CloudWatch."""

    detailed: bool = True
    """Whether to enable detailed monitoring (metrics every minute), which AWS charges for."""
    logs: bool = True
    """Whether to send logs to CloudWatch Logs."""
    log_retention_days: LogRetentionDays = 180
    """Days to keep logs. 0 keeps them forever."""
    keep_logs: bool = True
    """Whether to keep logs when the cluster is deleted."""
    dashboard: bool = True
    """Whether to create a CloudWatch dashboard of the cluster."""
    alarms: bool = True
    """Whether to create CloudWatch alarms for the head node."""


class Deployment(StrictModel):
    """How ParallelCluster's CloudFormation custom resource deploys the cluster."""

    provider_template_url: TemplateUrl | None = None
    """URL of the provider stack's template. If omitted, the one that AWS publishes for the version
    in the region."""
    provider_service_token: LambdaArn | None = None
    """ARN of the Lambda function of an existing provider stack, to use instead of a new one."""
    suppress_validators: tuple[
        Annotated[str, Field(pattern=r"^(?:ALL|type:[A-Za-z0-9]+)$")], ...
    ] = ()
    """ParallelCluster validators to skip, such as `type:DetailedMonitoringValidator`."""
    deletion_policy: Literal["delete", "retain"] = "delete"
    """Whether `destroy` deletes or retains the cluster."""
    timeout_minutes: Annotated[int, Field(ge=10, le=720)] = 90
    """Minutes after which CloudFormation fails the creation of the cluster."""


class ParallelClusterArchitecture(Architecture):
    """A Slurm cluster that AWS ParallelCluster deploys."""

    POOL_NOUN = "compute resource"
    PLACE_NOUN = "queue"
    BLOCK_STARTS = "static nodes launch, and dynamic ones for jobs"

    kind: Literal["parallelcluster"]
    """AWS ParallelCluster."""
    operating_system: OperatingSystem = "alinux2023"
    """Operating system of all nodes. Cannot be changed after creation."""
    image: Literal["official", "custom"] | None = None
    """`official`: ParallelCluster's own AMI. `custom`: the AMI in `custom_ami_id`, which is then
    required. If omitted, `custom` if `custom_ami_id` is set, otherwise `official`."""
    custom_ami_id: AmiId | None = None
    """AMI of all nodes, built from a ParallelCluster AMI. If omitted, ParallelCluster's own AMI.
    Cannot be changed after creation."""
    head_node: HeadNode = HeadNode.defaults()
    """The head node."""
    queues: Annotated[dict[QueueName, Queue], Field(min_length=1)]
    """Queues, by name. The first name in alphabetical order is the default queue, because Pulumi
    sorts keys."""
    slurm: Slurm = Slurm.defaults()
    """Settings of the Slurm scheduler."""
    monitoring: Monitoring = Monitoring.defaults()
    """Metrics, logs and alarms in CloudWatch."""
    deployment: Deployment = Deployment.defaults()
    """How ParallelCluster deploys the cluster."""

    @model_validator(mode="after")
    def _image_has_its_ami(self) -> Self:
        if self.image == "custom" and self.custom_ami_id is None:
            raise PydanticCustomError("needed", "is missing", {"key": "custom_ami_id"})
        if self.image == "official" and self.custom_ami_id is not None:
            raise PydanticCustomError(
                "contradiction",
                "is given with `image: official`",
                {
                    "key": "custom_ami_id",
                    "why": "nodes launch from only one AMI",
                    "allowed": "no `custom_ami_id`, or `image: custom`",
                    "remedy": "remove one of them",
                },
            )
        return self

    @property
    @override
    def node_system(self) -> str:
        """Operating system of the nodes."""
        return self.operating_system

    @override
    def pools(self) -> tuple[Pool, ...]:
        """Return the compute resources of all queues."""
        return tuple(
            Pool(
                name=f"{queue_name}/{name}",
                key=resource_key(queue_name, name, resource),
                launch_key=f"architecture.queues.{queue_name}",
                instance_type=resource.instance_type,
                purchase_option=resource.purchase_option or queue.purchase_option,
                # ParallelCluster requires that the maximum fits (CapacityReservationSizeValidator).
                wanted=resource.maximum,
                wanted_key=f"{resource_key(queue_name, name, resource)}.maximum",
                least=1,
                maximum=resource.maximum,
                # ParallelCluster makes a dry run of a launch for each queue.
                at_once=max(resource.minimum, 1),
                at_once_keys=(),
                efa_enabled=resource.efa_enabled,
                placement=resource.placement,
                availability_zone=queue.availability_zone,
                subnet_ids=queue.subnet_ids,
                subnet_key=f"architecture.queues.{queue_name}.subnet_ids",
            )
            for queue_name, queue in self.queues.items()
            for name, resource in queue.compute_resources.items()
        )

    @override
    def in_every_block(self, blocks: BlockPools) -> Self:
        """Return the architecture with a compute resource for each of `further_blocks`."""
        queues = {
            name: queue.model_copy(
                update={
                    "compute_resources": blocks.expand(
                        f"architecture.queues.{name}.compute_resources",
                        queue.compute_resources,
                        QueueName,
                        option=queue.purchase_option,
                    )
                }
            )
            for name, queue in self.queues.items()
        }
        return self.model_copy(update={"queues": queues})

    @override
    def own_nodes(self) -> tuple[OwnNodes, ...]:
        """Return the head node."""
        remedy = (
            "set `availability_zone` of the head node to one of these, or use another instance type"
        )
        return (
            OwnNodes(
                key="architecture.head_node",
                instance_type=self.head_node.instance_type,
                availability_zone=self.head_node.availability_zone,
                first_zone_only=True,
                zone_remedy=remedy,
            ),
        )

    @override
    def key_names(self) -> frozenset[str]:
        """Return the name of the head node's key pair, if any."""
        name = self.head_node.ssh.key_name
        return frozenset() if name is None else frozenset({name})

    @override
    def image_ids(self) -> tuple[str, ...]:
        """Return the ids of the AMIs in the stack file."""
        named = (self.custom_ami_id, *(queue.custom_ami_id for queue in self.queues.values()))
        return tuple(dict.fromkeys(image_id for image_id in named if image_id is not None))


def resource_key(queue_name: str, name: str, resource: ComputeResource) -> str:
    """Return the key of a compute resource in the stack file, relative to `trainyard:cluster`."""
    return f"architecture.queues.{queue_name}.compute_resources.{resource.pool_named(name)}"
