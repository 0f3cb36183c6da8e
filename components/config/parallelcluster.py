"""The ParallelCluster architecture: the cluster, its scheduler, and how it is deployed.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html,
and the schema of the package `aws-parallelcluster`, version 3.16.1.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from components.config.base import (
    StrictModel,
)
from components.config.parallelcluster_fields import (
    AmiId,
    LambdaArn,
    QueueName,
    SlurmSettings,
    TemplateUrl,
)
from components.config.parallelcluster_nodes import HeadNode, Queue
from components.config.pools import OwnNodes, Pool
from components.config.stack import Architecture

OperatingSystem = Literal[
    "alinux2023", "ubuntu2204", "ubuntu2404", "rhel8", "rhel9", "rocky8", "rocky9"
]


class Slurm(StrictModel):
    """The scheduler."""

    idle_minutes: Annotated[int, Field(ge=-1)] = 10
    """Minutes without a job after which a node above `minimum` goes; -1 for never."""
    queue_update_strategy: Literal["DRAIN", "TERMINATE", "COMPUTE_FLEET_STOP"] = "DRAIN"
    """What an update does to nodes that it changes: let their jobs end, end them at once, or
    refuse until the fleet is stopped by hand."""
    scaling_strategy: Literal["all-or-nothing", "greedy-all-or-nothing", "best-effort"] = (
        "all-or-nothing"
    )
    """Whether a job starts on fewer nodes than it asked for."""
    memory_based_scheduling: bool = False
    """Whether jobs are given memory, and no more."""
    settings: SlurmSettings = Field(default_factory=dict)
    """Further parameters of `slurm.conf`."""


class Monitoring(StrictModel):
    """What CloudWatch gets."""

    detailed: bool = True
    """Whether instances report every minute; it costs."""
    logs: bool = True
    """Whether logs go to CloudWatch."""
    log_retention_days: Literal[
        0, 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 3653
    ] = 180
    """Days to keep them; 0 for ever."""
    keep_logs: bool = True
    """Whether logs outlive the cluster."""
    dashboard: bool = True
    """Whether CloudWatch shows a dashboard of the cluster."""
    alarms: bool = True
    """Whether CloudWatch watches the head node."""


class Deployment(StrictModel):
    """How ParallelCluster's CloudFormation custom resource makes the cluster."""

    provider_template_url: TemplateUrl | None = None
    """Template of the provider stack; left out, AWS's own for the version in the region."""
    provider_service_token: LambdaArn | None = None
    """Lambda function of a provider stack that exists; in place of a new one."""
    suppress_validators: tuple[
        Annotated[str, Field(pattern=r"^(?:ALL|type:[A-Za-z0-9]+)$")], ...
    ] = ()
    """Validators of ParallelCluster to leave out, such as `type:DetailedMonitoringValidator`."""
    deletion_policy: Literal["delete", "retain"] = "delete"
    """What becomes of the cluster on `destroy`."""
    timeout_minutes: Annotated[int, Field(ge=10, le=720)] = 90
    """Minutes that CloudFormation gives the cluster to come up."""


class ParallelClusterArchitecture(Architecture):
    """A Slurm cluster made by AWS ParallelCluster."""

    POOL_NOUN = "compute resource"
    PLACE_NOUN = "queue"

    kind: Literal["parallelcluster"]
    """AWS ParallelCluster."""
    operating_system: OperatingSystem = "alinux2023"
    """Operating system of all nodes. It can never be changed."""
    image: Literal["official", "custom"] | None = None
    """`official` is ParallelCluster's own AMI, `custom` that of `custom_ami_id`; left out, what
    `custom_ami_id` says. With `custom` a stack file that has no AMI yet asks for it."""
    custom_ami_id: AmiId | None = None
    """AMI of all nodes, made from one of ParallelCluster's; left out, ParallelCluster's own. It
    can never be changed."""
    head_node: HeadNode = HeadNode.defaults()
    """The head node."""
    queues: Annotated[dict[QueueName, Queue], Field(min_length=1)]
    """Queues, by name. The first in the alphabet is the default one: the engine sorts keys."""
    slurm: Slurm = Slurm.defaults()
    """How the scheduler works."""
    monitoring: Monitoring = Monitoring.defaults()
    """What goes to CloudWatch."""
    deployment: Deployment = Deployment.defaults()
    """How the cluster is made."""

    @model_validator(mode="after")
    def _image_has_its_ami(self) -> Self:
        if self.image == "custom" and self.custom_ami_id is None:
            raise PydanticCustomError("needed", "is missing", {"key": "custom_ami_id"})
        if self.image == "official" and self.custom_ami_id is not None:
            raise PydanticCustomError(
                "contradiction",
                "is given beside `image: official`",
                {
                    "key": "custom_ami_id",
                    "why": "nodes start from one of the two",
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
                key=f"architecture.queues.{queue_name}.compute_resources.{name}",
                launch_key=f"architecture.queues.{queue_name}",
                instance_type=resource.instance_type,
                purchase_option=resource.purchase_option or queue.purchase_option,
                # ParallelCluster requires that the maximum fits (CapacityReservationSizeValidator).
                wanted=resource.maximum,
                wanted_key=f"architecture.queues.{queue_name}.compute_resources.{name}.maximum",
                least=1,
                maximum=resource.maximum,
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
    def own_nodes(self) -> tuple[OwnNodes, ...]:
        """Return the head node."""
        remedy = "give the head node one of these as `availability_zone`, or another type"
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
