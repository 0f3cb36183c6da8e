"""The plan of an AWS Batch stack, as plain records.

`plan_stack` in `trainyard.components.batch.planner` creates them from the configuration; the
components in this package turn them into resources.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from trainyard.components.batch.compute_environment_plan import ComputeEnvironmentPlan
from trainyard.components.catalog.instance_types import InstanceType
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.monitoring.plan import MonitoringPlan
from trainyard.components.network.network_plan import NetworkPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerPlan:
    """The container of a job on one node."""

    image: str | None
    """None for the repository of the stack."""
    command: tuple[str, ...]
    environment: Mapping[str, str]
    vcpus: int
    memory_mib: int
    gpus: int
    devices: tuple[str, ...]
    """Device files of the host for EFA and Trainium."""
    shared_memory_mib: int
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    """ARNs of secrets, by environment variable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDefinitionPlan:
    """A job definition; multi-node parallel with more than one node."""

    name: str
    compute_environment: str
    nodes: int
    instance_type: InstanceType
    container: ContainerPlan
    attempts: int
    timeout_seconds: int | None
    iam_policies: tuple[str, ...]
    """ARNs of AWS managed policies of the job role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryPlan:
    """An ECR repository."""

    name: str
    untagged_days: int
    kept_images: int
    deletion_protection: bool
    adopt: bool = False
    """Whether it exists and is imported; its lifecycle policy is not changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """The complete plan of a Batch stack."""

    kind: ClassVar[Literal["batch"]] = "batch"
    name: str
    region: str
    tags: Mapping[str, str]
    network: NetworkPlan
    compute_environments: tuple[ComputeEnvironmentPlan, ...]
    job_definitions: tuple[JobDefinitionPlan, ...]
    repository: RepositoryPlan | None
    resource_shares: Mapping[str, str]
    """ARNs of RAM shares to accept before the reservations in them are used, by the name of the
    reservation."""
    monitoring_plan: MonitoringPlan | None = None
    notes: tuple[str, ...] = ()

    def queue_name(self, environment: str) -> str:
        """Return the name of a compute environment, and of its queue, in AWS.

        `BatchComputeEnvironment` gives both the logical name of the component.
        """
        return f"{self.name}-{environment}"

    @property
    def queue_names(self) -> list[str]:
        """Names of the job queues in AWS."""
        return [self.queue_name(each.name) for each in self.compute_environments if each.has_queue]

    @property
    def jobs_in_default_group(self) -> tuple[str, ...]:
        """Multi-node parallel job definitions whose containers get the default security group.

        The interface of a container has the security groups of the compute environment. An
        environment whose launch template has interfaces, as with EFA, cannot have security groups,
        and Batch then uses the default group of the VPC. EFA interfaces belong to the node and have
        its security groups.
        https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
        """
        with_interfaces = {each.name for each in self.compute_environments if each.interfaces}
        return tuple(
            each.name
            for each in self.job_definitions
            if each.nodes > 1 and each.compute_environment in with_interfaces
        )

    @property
    def node_pools(self) -> tuple[NodePoolPlan, ...]:
        """The compute environments."""
        return self.compute_environments
