"""The nodes of the ParallelCluster architecture: a head node, and queues of compute resources.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html,
and the schema of the package `aws-parallelcluster`, version 3.16.1.
"""

from typing import Annotated, Literal

from pydantic import Field

from components.config.base import (
    ClientCidr,
    InstanceTypeName,
    NodePoolName,
    StrictModel,
    SubnetId,
    Text,
    Zone,
)
from components.config.node_pool import KeyName, Placement, PolicyName, RootVolume
from components.config.parallelcluster_fields import (
    AmiId,
    BucketName,
    LocalDirectory,
    ObjectKey,
    PublicKey,
    QueueName,
    ScriptLocation,
    SlurmSettings,
)


class Script(StrictModel):
    """A script that nodes run when they start."""

    script: ScriptLocation
    """`docker`, `pyxis` (with Enroot), `nccl` or `neuron` for the scripts that the program pins,
    or the address of another."""
    arguments: tuple[Text, ...] = ()
    """Arguments of the script."""


class CustomActions(StrictModel):
    """What nodes run besides ParallelCluster's own configuration, in this order."""

    on_node_start: tuple[Script, ...] = ()
    """Before ParallelCluster configures the node."""
    on_node_configured: tuple[Script, ...] = ()
    """After it."""


class S3Access(StrictModel):
    """A bucket that nodes may read."""

    bucket: BucketName
    """The bucket."""
    key: ObjectKey | None = None
    """Prefix and `*`, or one object; left out, the whole bucket."""
    write: bool = False
    """Whether nodes may write there too."""


class Ssh(StrictModel):
    """Who reaches the head node over SSH; without a key it is reached through Session Manager."""

    key_name: KeyName | None = None
    """Key pair that exists in the region."""
    public_key: PublicKey | None = None
    """Public key that the stack imports as a key pair; in place of `key_name`. The private key
    stays with you."""
    allowed_cidr: ClientCidr = "0.0.0.0/0"
    """Network that may open SSH connections to the head node."""


class HeadNode(StrictModel):
    """The node that runs Slurm's controller, and that people log in to."""

    instance_type: InstanceTypeName = "m5.8xlarge"
    """EC2 instance type. It can never be changed."""
    network: Literal["public", "private"] = "public"
    """`public`: in a public subnet, with a public address. `private`: in a private subnet, reached
    through Session Manager."""
    availability_zone: Zone | None = None
    """Zone, by name or zone id; left out, that of the first queue by name that has one,
    else the first."""
    subnet_id: SubnetId | None = None
    """Subnet, in place of `network` and `availability_zone`. It can never be changed."""
    root_volume: RootVolume = RootVolume.defaults()
    """The root volume, with the home directories. It can never be changed."""
    ssh: Ssh = Ssh.defaults()
    """Who may log in, and how."""
    iam_policies: tuple[PolicyName, ...] = ("AmazonSSMManagedInstanceCore",)
    """AWS managed policies of the head node's role, by name."""
    s3_access: tuple[S3Access, ...] = ()
    """Buckets that the head node may read."""
    custom_actions: CustomActions = CustomActions.defaults()
    """Scripts that the head node runs."""


class ComputeResource(StrictModel):
    """Nodes of one instance type in a queue."""

    instance_type: InstanceTypeName
    """EC2 instance type. Changing it needs a stopped compute fleet."""
    minimum: Annotated[int, Field(ge=0)] = 0
    """Static nodes: they run always."""
    maximum: Annotated[int, Field(ge=1)]
    """Most nodes; those above `minimum` come when jobs need them. With a Capacity Block it must
    be `minimum`."""
    purchase_option: NodePoolName | None = None
    """A reservation of the kind that the queue buys, in place of the queue's own one."""
    efa_enabled: bool = False
    """Whether nodes use every EFA interface of their type; the queue then has one subnet."""
    workload: Literal["training", "inference"] | None = None
    """What runs on the nodes; `training` where EFA is on, else `inference`."""
    placement: Placement = Placement.defaults()
    """The cluster placement group."""
    simultaneous_multithreading: bool = True
    """Whether every core shows as two; Slurm then counts hardware threads."""
    schedulable_memory_mib: Annotated[int, Field(ge=1)] | None = None
    """Memory that Slurm gives to jobs, in MiB; left out, 95 % of the type's."""
    slurm_settings: SlurmSettings = Field(default_factory=dict)
    """Further Slurm parameters of the nodes, such as `Feature`."""

    @property
    def is_training(self) -> bool:
        """Whether the nodes run a distributed training job."""
        return self.workload == "training" or (self.workload is None and self.efa_enabled)


class Queue(StrictModel):
    """A Slurm partition."""

    purchase_option: NodePoolName = "on-demand"
    """`on-demand`, `spot`, or the name of an entry of `reservations`."""
    availability_zone: Zone | None = None
    """Zone to launch in, by name or zone id; follows from the reservation where it has one."""
    subnet_ids: tuple[SubnetId, ...] = ()
    """Private subnets, in place of `availability_zone`; left out, all of the network. With EFA
    only one."""
    compute_resources: Annotated[dict[QueueName, ComputeResource], Field(min_length=1)]
    """Nodes, by name."""
    custom_ami_id: AmiId | None = None
    """AMI of the nodes, in place of the cluster's; made from one of ParallelCluster's."""
    root_volume: RootVolume = RootVolume(size_gib=200)
    """The root volume of each node."""
    scratch_directory: LocalDirectory = "/scratch"
    """Where the instance's own NVMe disks are mounted, as one volume."""
    exclusive_jobs: bool = False
    """Whether a node runs one job at a time."""
    gpu_health_check: bool = False
    """Whether GPUs are tested before each job; a node that fails is replaced."""
    allocation_strategy: (
        Literal["lowest-price", "capacity-optimized", "price-capacity-optimized"] | None
    ) = None
    """How EC2 chooses capacity, where it has a choice; not with a reservation."""
    iam_policies: tuple[PolicyName, ...] = ()
    """AWS managed policies of the nodes' role, by name."""
    s3_access: tuple[S3Access, ...] = ()
    """Buckets that the nodes may read."""
    custom_actions: CustomActions = CustomActions.defaults()
    """Scripts that the nodes run."""
    slurm_settings: SlurmSettings = Field(default_factory=dict)
    """Further Slurm parameters of the partition, such as `MaxTime`."""
