"""The records that describe a ParallelCluster stack before a resource exists.

`plan_parallelcluster` in `components.architectures.parallelcluster_plan` makes them from the
configuration; `components.parallelcluster.rendering` writes them as ParallelCluster's own YAML,
and the components turn them into resources.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from components.capacity.plan import CapacityPlan, PlacementPlan
from components.catalog.instance_type import InstanceType
from components.config.node_pool import RootVolume
from components.config.parallelcluster import Monitoring, OperatingSystem, S3Access, Slurm
from components.network.network_plan import NetworkPlan
from components.storage.open_zfs_plan import OpenZfsPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptPlan:
    """A script that nodes run, at an address that does not change."""

    url: str
    """`https://` or `s3://`; of the program's own scripts pinned to a commit."""
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAccess:
    """What nodes may do, and what they run when they start."""

    iam_policies: tuple[str, ...] = ()
    """ARNs of AWS managed policies."""
    s3_access: tuple[S3Access, ...] = ()
    on_node_start: tuple[ScriptPlan, ...] = ()
    on_node_configured: tuple[ScriptPlan, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadNodePlan:
    """The head node."""

    instance_type: str
    subnets: tuple[str, ...]
    """References of the `NetworkPlan`; exactly one once the account was asked."""
    public: bool
    """Whether it has a public address; without one it is reached through Session Manager."""
    root_volume: RootVolume
    key_name: str | None
    """Key pair that exists; None without SSH, or where the stack imports the public key."""
    public_key: str | None
    """Public key that the stack imports."""
    allowed_cidr: str
    access: NodeAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeResourcePlan:
    """Nodes of one instance type in a queue."""

    name: str
    instance_type: InstanceType
    minimum: int
    maximum: int
    efa_enabled: bool
    capacity: CapacityPlan
    """The queue's, or its own where it names another reservation."""
    placement: PlacementPlan
    simultaneous_multithreading: bool
    schedulable_memory_mib: int | None
    slurm_settings: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePlan:
    """A Slurm partition."""

    name: str
    capacity: CapacityPlan
    subnets: tuple[str, ...]
    """Private subnets, as references of the `NetworkPlan`; one with EFA or a reservation, once the
    account was asked."""
    compute_resources: tuple[ComputeResourcePlan, ...]
    custom_ami_id: str | None
    root_volume: RootVolume
    scratch_directory: str
    exclusive_jobs: bool
    gpu_health_check: bool
    allocation_strategy: str | None
    access: NodeAccess
    slurm_settings: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedStoragePlan:
    """One entry of `SharedStorage`."""

    name: str
    """Key in `storage`."""
    mount_directory: str
    type: Literal["Ebs", "Efs", "FsxLustre", "FsxOpenZfs"]
    """`StorageType` of ParallelCluster."""
    settings: Mapping[str, Any]
    """The type's own settings in ParallelCluster's words (`StorageCapacity` …); values may be a
    `Reference`."""
    retained: bool
    """Whether it outlives the cluster: an existing one, or a new one that is protected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentPlan:
    """The CloudFormation stack around ParallelCluster's custom resource."""

    stack_name: str
    """Never the cluster's own name: ParallelCluster makes a stack of that name."""
    provider_template_url: str
    provider_service_token: str | None
    """Lambda function of a provider that exists; None makes one from the template."""
    suppress_validators: tuple[str, ...]
    deletion_policy: Literal["Delete", "Retain"]
    timeout_minutes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelClusterPlan:
    """A whole ParallelCluster stack."""

    name: str
    region: str
    tags: Mapping[str, str]
    network: NetworkPlan
    version: str
    """Version of ParallelCluster."""
    operating_system: OperatingSystem
    custom_ami_id: str | None
    head_node: HeadNodePlan
    queues: tuple[QueuePlan, ...]
    slurm: Slurm
    shared_storage: tuple[SharedStoragePlan, ...] = ()
    open_zfs: tuple[OpenZfsPlan, ...] = ()
    monitoring: Monitoring
    deployment: DeploymentPlan
    resource_shares: Mapping[str, str] = field(default_factory=dict[str, str])
    """ARNs of RAM shares to accept before the reservations in them are used, by the name of the
    reservation."""
    notes: tuple[str, ...] = ()

    @property
    def capacities(self) -> tuple[CapacityPlan, ...]:
        """Every way in which the stack buys capacity."""
        return tuple(r.capacity for queue in self.queues for r in queue.compute_resources)


def deployment_stack_name(cluster_name: str) -> str:
    """Return the name of the CloudFormation stack around a cluster; never the cluster's own."""
    return f"{cluster_name}-deployment"
