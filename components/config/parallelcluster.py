"""The ParallelCluster architecture: the cluster, its scheduler and nodes, and its deployment."""

import base64
import binascii
import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from trainyard.components.config.base import (
    ARN_PARTITION,
    AmiId,
    ClientCidr,
    EffectiveWith,
    Form,
    InstanceTypeName,
    Line,
    NodePoolName,
    StrictModel,
    SubnetId,
    Switch,
    Text,
    Zone,
)
from trainyard.components.config.monitoring import LogRetentionDays
from trainyard.components.config.node_pool import (
    BlockNodes,
    BlockPools,
    KeyName,
    OwnNodes,
    Placement,
    PolicyName,
    Pool,
    RootVolume,
)
from trainyard.components.config.stack import (
    Architecture,
    JobLimit,
    PlacedStackConfig,
    StackConfig,
)
from trainyard.components.config.storage_fields import BUCKET, NOT_IN_PATHS

# Field types of the ParallelCluster architecture: names, ids and URLs with their forms.
#
# Sources: the pages named below, and `pcluster/schemas` of the package `aws-parallelcluster`,
# version 3.16.1.


# https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html, `SlurmQueues/Name` and
# `ComputeResources/Name`
QueueName = Annotated[
    str,
    Form(
        pattern=r"[a-z][a-z0-9-]{0,24}",
        expected=(
            "a name of at most 25 lowercase letters, digits and hyphens that begins with a letter"
        ),
        example="compute-gpu",
    ),
]
# https://docs.aws.amazon.com/parallelcluster/latest/ug/custom-bootstrap-actions-v3.html
ScriptLocation = Annotated[
    str,
    Form(
        # Characters that RFC 3986 allows in a URL, except for the apostrophe.
        pattern=r"docker|pyxis|nccl|neuron|(?:https|s3)://[A-Za-z0-9._~:/?#\[\]@!$&()*+,;=%-]+",
        expected=(
            "`docker`, `pyxis`, `nccl`, `neuron`, or the `https://` or `s3://` URL of a script"
        ),
        example="pyxis",
        names="script",
    ),
]
ScriptDigest = Annotated[
    str,
    Form(
        pattern=r"[0-9a-f]{64}",
        expected="a SHA-256 digest: 64 hexadecimal digits, as `sha256sum` prints it",
        example="e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ),
]
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
BucketName = Annotated[
    str,
    Form(
        # These suffixes are those of access points and of other kinds of buckets.
        pattern=rf"(?!.*(?:-s3alias|--ol-s3|\.mrap|--x-s3|--table-s3)$){BUCKET}",
        expected=(
            "the name of an S3 bucket: 3 to 63 small letters, digits, hyphens and single dots, "
            "without a reserved prefix or suffix"
        ),
        example="training-scripts",
        names="s3-bucket",
    ),
]
# https://docs.aws.amazon.com/parallelcluster/latest/ug/HeadNode-v3.html, `S3Access/KeyName`
ObjectKey = Annotated[
    str,
    Form(
        pattern=r"[^/\s][^\r\n]{0,1023}",
        expected="the key of an object, or a prefix and `*`, without a leading slash",
        example="data/*",
    ),
]
_PUBLIC_KEY = Form(
    pattern=r"(?:ssh-ed25519|ssh-rsa) [A-Za-z0-9+/]+={0,3}(?: [^\r\n]*)?",
    expected="one complete line of a public key file: `ssh-ed25519` or `ssh-rsa`, and the key",
    example="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFxtkBQK8pio3VACjCmOl68BcFHYzZ6Xk60QDD9HYPvn",
    where="the line in the `.pub` file of your key pair, such as ~/.ssh/id_ed25519.pub",
)
_FIELDS = {"ssh-ed25519": 2, "ssh-rsa": 3}
"""Number of fields of a key, including its type: https://www.rfc-editor.org/rfc/rfc8709#section-4
and https://www.rfc-editor.org/rfc/rfc4253#section-6.6."""


def _whole_key(line: str) -> str:
    """Return a key without its comment, because a changed comment would replace the key pair.

    Rejects a truncated or mistyped key, which EC2 would reject in the middle of an update.
    """
    key_type, key = line.split()[:2]
    try:
        fields = _fields(base64.b64decode(key, validate=True))
    except (binascii.Error, ValueError):
        fields = []
    if len(fields) != _FIELDS[key_type] or fields[0] != key_type.encode():
        raise PydanticCustomError(
            "form",
            "is not {expected}",
            {
                "expected": _PUBLIC_KEY.expected,
                "example": _PUBLIC_KEY.example,
                "where": _PUBLIC_KEY.where,
            },
        )
    return f"{key_type} {key}"


def _fields(blob: bytes) -> list[bytes]:
    """Return the fields of a key. Each begins with its length in four bytes.

    Raises:
        ValueError: the last field is truncated.
    """
    fields: list[bytes] = []
    while blob:
        length = int.from_bytes(blob[:4])
        field, blob = blob[4 : 4 + length], blob[4 + length :]
        if not length or len(field) != length:
            raise ValueError("the key is truncated")
        fields.append(field)
    return fields


# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-key-pairs.html#how-to-generate-your-own-key-and-import-it-to-aws
PublicKey = Annotated[str, _PUBLIC_KEY, AfterValidator(_whole_key)]
LambdaArn = Annotated[
    str,
    Form(
        # https://docs.aws.amazon.com/lambda/latest/api/API_GetFunction.html, `FunctionName`
        pattern=(
            rf"arn:{ARN_PARTITION}:lambda:(?:eusc-)?[a-z]{{2}}(?:-gov|-iso[a-z]?)?-[a-z]{{1,20}}-\d:"
            r"\d{12}:function:[A-Za-z0-9_-]{1,64}"
        ),
        expected="the ARN of the Lambda function of a ParallelCluster provider stack",
        example="arn:aws:lambda:us-west-2:123456789012:function:pcluster-cfn-provider",
        names="lambda-function",
    ),
]
TemplateUrl = Annotated[
    str,
    Form(
        # https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
        pattern=r"https?://[A-Za-z0-9._~:/?#\[\]@!$&()*+,;=%-]{1,5112}",
        expected="the URL of a CloudFormation template in S3",
        example="https://s3.us-west-2.amazonaws.com/templates/cluster.yaml",
    ),
]
# https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html: mount directories
LocalDirectory = Annotated[
    str,
    Form(
        pattern=rf"/[^{NOT_IN_PATHS}/]+(?:/[^{NOT_IN_PATHS}/]+)*",
        expected="an absolute path without spaces and shell metacharacters",
        example="/scratch",
    ),
]
SlurmParameter = Annotated[
    str,
    Form(pattern=r"[A-Za-z][A-Za-z0-9_]*", expected="a Slurm parameter", example="JobCompType"),
]
# A second line would be a separate parameter in slurm.conf.
SlurmSettings = dict[SlurmParameter, Line]


# The nodes of the ParallelCluster architecture: a head node, and queues of compute resources.
#
# Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html,
# and the schema of the package `aws-parallelcluster`, version 3.16.1.


class Script(StrictModel):
    """A script that nodes run when they start."""

    script: ScriptLocation
    """`docker`, `pyxis` (with Enroot), `nccl` or `neuron` for a script that the program pins, or
    the URL of another script."""
    sha256: ScriptDigest | None = None
    """SHA-256 digest of the script at a URL. A node that downloads another file does not start."""
    arguments: tuple[Text, ...] = ()
    """Arguments of the script."""


class CustomActions(StrictModel):
    """Scripts that nodes run before and after ParallelCluster configures them, in this order."""

    on_node_start: tuple[Script, ...] = ()
    """Scripts to run before ParallelCluster configures the node."""
    on_node_configured: tuple[Script, ...] = ()
    """Scripts to run after ParallelCluster has configured the node."""


class S3Access(StrictModel):
    """An S3 bucket that nodes can read."""

    bucket: BucketName
    """Name of the bucket."""
    key: ObjectKey | None = None
    """A prefix and `*`, or the key of one object. If omitted, the whole bucket."""
    write: bool = False
    """Whether nodes can also write to it."""


NO_ADDRESS = "0.0.0.0/32"
"""`AllowedIps` that closes SSH: no client has this address. ParallelCluster has no other setting.

https://github.com/aws/aws-parallelcluster/issues/6708
"""


class Ssh(StrictModel):
    """SSH access to the head node. Without a key, use Session Manager to connect to it."""

    key_name: KeyName | None = None
    """Name of an existing EC2 key pair in the region."""
    public_key: PublicKey | None = None
    """Public key that the stack imports as an EC2 key pair, instead of `key_name`. The program
    never needs the private key."""
    allowed_cidr: Annotated[
        ClientCidr | None,
        EffectiveWith(
            (Switch("key_name"), Switch("public_key")),
            why="the head node has no key pair, and nobody can connect by SSH",
            harmless=(NO_ADDRESS,),
        ),
    ] = None
    """CIDR block that can open SSH connections to the head node. If omitted, none can."""


class HeadNode(StrictModel):
    """The node that runs the Slurm controller and that users log in to."""

    instance_type: InstanceTypeName = "m5.8xlarge"
    """EC2 instance type. Cannot be changed after creation."""
    network: Literal["public", "private"] = "public"
    """`public`: in a public subnet, with a public IP address. `private`: in a private subnet; use
    Session Manager to connect."""
    availability_zone: Zone | None = None
    """Zone, by name or zone id. If omitted, the zone of the first queue by name that has one,
    otherwise the first zone of the network."""
    subnet_id: SubnetId | None = None
    """Subnet, instead of `network` and `availability_zone`. Cannot be changed after creation."""
    root_volume: RootVolume = RootVolume.defaults()
    """The root volume, which has the home directories. Cannot be changed after creation."""
    ssh: Ssh = Ssh.defaults()
    """SSH access to the head node."""
    iam_policies: tuple[PolicyName, ...] = ("AmazonSSMManagedInstanceCore",)
    """Names of AWS managed policies to attach to the head node's role."""
    s3_access: tuple[S3Access, ...] = ()
    """S3 buckets that the head node can read."""
    custom_actions: CustomActions = CustomActions.defaults()
    """Scripts that the head node runs."""


class ComputeResource(BlockNodes):
    """Nodes of one instance type in a queue."""

    instance_type: InstanceTypeName
    """EC2 instance type. To change it, stop the compute fleet first."""
    minimum: Annotated[int, Field(ge=0)] = 0
    """Number of static nodes, which are always running."""
    maximum: Annotated[int, Field(ge=1)]
    """Maximum number of nodes. Nodes above `minimum` launch when jobs need them. With a Capacity
    Block, it must be equal to `minimum`."""
    purchase_option: NodePoolName | None = None
    """An entry of `reservations` to use instead of the queue's, of the same kind as the queue's
    `purchase_option`."""
    efa_enabled: bool = False
    """Whether nodes use every EFA interface of their instance type. The queue must then have
    exactly one subnet."""
    workload: Literal["training", "inference"] | None = None
    """What runs on the nodes. If omitted, `training` if EFA is on, otherwise `inference`."""
    placement: Placement = Placement.defaults()
    """The cluster placement group."""
    simultaneous_multithreading: bool = True
    """Whether each core runs two hardware threads, which Slurm counts as CPUs."""
    schedulable_memory_mib: Annotated[int, Field(ge=1)] | None = None
    """Memory in MiB that Slurm can allocate to jobs. If omitted, 95 % of the memory of the instance
    type."""
    slurm_settings: SlurmSettings = Field(default_factory=dict)
    """Additional Slurm parameters of the nodes, such as `Feature`."""

    @property
    def is_training(self) -> bool:
        """Whether the nodes run a distributed training job."""
        return self.workload == "training" or (self.workload is None and self.efa_enabled)


class Queue(StrictModel):
    """A Slurm partition."""

    purchase_option: NodePoolName = "on-demand"
    """`on-demand`, `spot`, or the name of an entry of `reservations`."""
    availability_zone: Zone | None = None
    """Zone to launch in, by name or zone id. If omitted, the zone of the reservation, if any."""
    subnet_ids: tuple[SubnetId, ...] = ()
    """Private subnets, instead of `availability_zone`. If omitted, all private subnets of the
    network. With EFA, exactly one."""
    compute_resources: Annotated[dict[QueueName, ComputeResource], Field(min_length=1)]
    """Compute resources, by name."""
    custom_ami_id: AmiId | None = None
    """AMI of the nodes, instead of the cluster's AMI. It must be built from a ParallelCluster AMI.
    """
    root_volume: RootVolume = RootVolume(size_gib=200)
    """The root volume of each node."""
    scratch_directory: LocalDirectory = "/scratch"
    """Directory where the NVMe instance store volumes are mounted, as one volume."""
    exclusive_jobs: bool = False
    """Whether each node runs only one job at a time."""
    gpu_health_check: bool = False
    """Whether to run GPU health checks before each job. Slurm replaces nodes that fail them."""
    allocation_strategy: (
        Literal["lowest-price", "capacity-optimized", "price-capacity-optimized"] | None
    ) = None
    """How EC2 selects capacity if it has a choice. Not valid with a reservation."""
    iam_policies: tuple[PolicyName, ...] = ()
    """Names of AWS managed policies to attach to the nodes' role."""
    s3_access: tuple[S3Access, ...] = ()
    """S3 buckets that the nodes can read."""
    custom_actions: CustomActions = CustomActions.defaults()
    """Scripts that the nodes run."""
    slurm_settings: SlurmSettings = Field(default_factory=dict)
    """Additional Slurm parameters of the partition, such as `MaxTime`."""


# The ParallelCluster architecture: the cluster, its scheduler, and how it is deployed.
#
# Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html,
# and the schema of the package `aws-parallelcluster`, version 3.16.1.


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


_OF_LOGS = EffectiveWith((Switch("logs"),), why="the cluster sends no logs to CloudWatch")


class Monitoring(StrictModel):
    """Metrics, logs and alarms in CloudWatch."""

    detailed: bool = True
    """Whether to enable detailed monitoring (metrics every minute), which AWS charges for."""
    logs: bool = True
    """Whether to send logs to CloudWatch Logs."""
    log_retention_days: Annotated[LogRetentionDays, _OF_LOGS] = 180
    """Days to keep logs. 0 keeps them forever."""
    keep_logs: bool = True
    """Whether to keep logs when the cluster is deleted."""
    dashboard: bool = True
    """Whether to create a CloudWatch dashboard of the cluster."""
    alarms: bool = True
    """Whether to create CloudWatch alarms for the head node."""


class Deployment(StrictModel):
    """How ParallelCluster's CloudFormation custom resource deploys the cluster."""

    provider_template_url: Annotated[
        TemplateUrl | None,
        EffectiveWith(
            (Switch("provider_service_token", (None,)),), why="the provider stack exists already"
        ),
    ] = None
    """URL of the provider stack's template. If omitted, the one that AWS publishes for the version
    in the region."""
    provider_service_token: LambdaArn | None = None
    """ARN of the Lambda function of an existing provider stack, to use instead of a new one."""
    suppress_validators: tuple[
        Annotated[
            str,
            Form(
                pattern=r"ALL|type:[A-Za-z0-9]+",
                expected="`ALL`, or `type:` and the name of a validator",
                example="type:DetailedMonitoringValidator",
            ),
        ],
        ...,
    ] = ()
    """ParallelCluster validators to skip, such as `type:DetailedMonitoringValidator`."""
    deletion_policy: Literal["delete", "retain"] = "delete"
    """Whether `destroy` deletes or retains the cluster."""
    timeout_minutes: Annotated[int, Field(ge=10, le=720)] = 90
    """Minutes after which CloudFormation fails the creation of the cluster."""


_SLURM_TIME = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?", re.ASCII)


def _slurm_minutes(text: str) -> float | None:
    """Return the minutes of a time limit; None of UNLIMITED and of what Slurm does not read.

    https://slurm.schedmd.com/slurm.conf.html, `MaxTime`: minutes, minutes:seconds,
    hours:minutes:seconds, days-hours, days-hours:minutes and days-hours:minutes:seconds.
    """
    found = _SLURM_TIME.fullmatch(text.strip())
    if found is None:
        return None
    days, first, second, third = (int(part) if part else None for part in found.groups())
    if days is not None:
        return ((days * 24 + (first or 0)) * 60 + (second or 0)) + (third or 0) / 60
    if third is not None:
        return (first or 0) * 60 + (second or 0) + third / 60
    return (first or 0) + (second or 0) / 60


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
    def job_limits(self) -> tuple[JobLimit, ...]:
        """Return the time limits of the partitions of queues."""
        return tuple(
            JobLimit(
                f"architecture.queues.{name}.slurm_settings.{parameter}",
                minutes,
                tuple(
                    dict.fromkeys(
                        each.purchase_option or queue.purchase_option
                        for each in queue.compute_resources.values()
                    )
                ),
            )
            for name, queue in self.queues.items()
            for parameter, value in queue.slurm_settings.items()
            if parameter.lower() in ("maxtime", "defaulttime")
            and (minutes := _slurm_minutes(value)) is not None
        )

    @override
    def image_ids(self) -> tuple[str, ...]:
        """Return the ids of the AMIs in the stack file."""
        named = (self.custom_ami_id, *(queue.custom_ami_id for queue in self.queues.values()))
        return tuple(dict.fromkeys(image_id for image_id in named if image_id is not None))


def resource_key(queue_name: str, name: str, resource: ComputeResource) -> str:
    """Return the key of a compute resource in the stack file, relative to `trainyard:cluster`."""
    return f"architecture.queues.{queue_name}.compute_resources.{resource.pool_named(name)}"


class GivenParallelClusterStack(StackConfig):
    """A stack file whose architecture is ParallelCluster."""

    architecture: ParallelClusterArchitecture  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """What runs in the network."""


class ParallelClusterStackConfig(PlacedStackConfig):
    """A stack whose architecture is ParallelCluster."""

    architecture: ParallelClusterArchitecture  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """What runs in the network."""
