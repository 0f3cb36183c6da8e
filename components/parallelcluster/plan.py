"""The plan of a ParallelCluster stack, as plain records.

`plan_stack` in `trainyard.components.parallelcluster.planner` creates them from the
configuration; `trainyard.components.parallelcluster.rendering` renders them as ParallelCluster
YAML, and the components turn them into resources.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.config.node_pool import RootVolume
from trainyard.components.config.parallelcluster import Monitoring, OperatingSystem, Slurm
from trainyard.components.monitoring.plan import MonitoringPlan
from trainyard.components.network.network_plan import NetworkPlan
from trainyard.components.parallelcluster.node_scripts import NodeAccess
from trainyard.components.parallelcluster.queue_plan import QueuePlan
from trainyard.components.parallelcluster.storage_settings import StorageType
from trainyard.components.storage.storage_plan import OpenZfsPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadNodePlan:
    """The head node."""

    instance_type: str
    subnets: tuple[str, ...]
    """References of the `NetworkPlan`; exactly one after the account was queried."""
    public: bool
    """Whether it has a public address; without one, users connect through Session Manager."""
    root_volume: RootVolume
    key_name: str | None
    """Existing key pair; None without SSH, or if the stack imports a public key."""
    public_key: str | None
    """Public key that the stack imports."""
    allowed_cidr: str | None
    access: NodeAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedStoragePlan:
    """One entry of `SharedStorage`."""

    name: str
    """Key in `storage`."""
    mount_directory: str
    type: StorageType
    settings: Mapping[str, Any]
    """Settings of the type with ParallelCluster's keys (`StorageCapacity` …); values can be a
    `Reference`."""
    retained: bool
    """Whether it is kept when the cluster is deleted: existing, or new and protected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentPlan:
    """The CloudFormation stack with ParallelCluster's custom resource."""

    stack_name: str
    """Not the cluster name, because ParallelCluster creates a stack with that name."""
    provider_template_url: str
    provider_service_token: str | None
    """Lambda function of an existing provider; None creates a provider in the template."""
    suppress_validators: tuple[str, ...]
    deletion_policy: Literal["Delete", "Retain"]
    timeout_minutes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelClusterPlan:
    """The complete plan of a ParallelCluster stack."""

    kind: ClassVar[Literal["parallelcluster"]] = "parallelcluster"
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
    monitoring_plan: MonitoringPlan | None = None
    notes: tuple[str, ...] = ()

    @property
    def node_scripts(self) -> Mapping[str, str]:
        """The names of the built-in scripts that nodes read, by their keys in the bucket."""
        nodes = (self.head_node, *self.queues)
        scripts = (script for node in nodes for script in node.access.built_in_scripts)
        return {script.key: script.built_in for script in scripts}

    @property
    def node_pools(self) -> tuple[NodePoolPlan, ...]:
        """The compute resources of all queues."""
        return tuple(each for queue in self.queues for each in queue.compute_resources)


def deployment_stack_name(cluster_name: str) -> str:
    """Return the name of the outer CloudFormation stack of a cluster."""
    return f"{cluster_name}-deployment"
