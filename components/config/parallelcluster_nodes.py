"""The nodes of the ParallelCluster architecture: a head node, and queues of compute resources.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html,
and the schema of the package `aws-parallelcluster`, version 3.16.1.
"""

from typing import Annotated, Literal

from pydantic import Field

from trainyard.components.config.base import (
    ClientCidr,
    InstanceTypeName,
    NodePoolName,
    StrictModel,
    SubnetId,
    Zone,
)
from trainyard.components.config.node_pool import (
    BlockNodes,
    KeyName,
    Placement,
    PolicyName,
    RootVolume,
)
from trainyard.components.config.parallelcluster_fields import (
    AmiId,
    BucketName,
    LocalDirectory,
    ObjectKey,
    PublicKey,
    QueueName,
    ScriptDigest,
    ScriptLocation,
    SlurmSettings,
)
from trainyard.components.config.text import Text


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


class Ssh(StrictModel):
    """SSH access to the head node. Without a key, use Session Manager to connect to it."""

    key_name: KeyName | None = None
    """Name of an existing EC2 key pair in the region."""
    public_key: PublicKey | None = None
    """Public key that the stack imports as an EC2 key pair, instead of `key_name`. The program
    never needs the private key."""
    allowed_cidr: ClientCidr | None = None
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
