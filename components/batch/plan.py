"""The plan of an AWS Batch stack, as plain records.

`plan_stack` in `components.batch.planner` creates them from the configuration; the
components in this package turn them into resources.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from typing_extensions import override

from components.catalog.batch import ImageType, image_parameter
from components.catalog.instance_type import InstanceType
from components.compute.node_pool_plan import ImageSource, NodePoolPlan
from components.compute.root_volume import RootVolume
from components.network.network_plan import NetworkPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeEnvironmentPlan(NodePoolPlan):
    """A compute environment, the launch template of its nodes and its job queue."""

    minimum_vcpus: int
    maximum_vcpus: int
    image_type: ImageType | None
    """`Ec2Configuration.imageType`; None with a custom AMI."""
    custom_ami_id: str | None
    allocation_strategy: Literal["BEST_FIT_PROGRESSIVE", "SPOT_PRICE_CAPACITY_OPTIMIZED"]
    """Batch supports in-place updates with these strategies, but not with `BEST_FIT`."""
    root_volume: RootVolume
    local_nvme: Literal["raid0", "none"]
    iam_policies: tuple[str, ...]
    """ARNs of AWS managed policies of the node role, in addition to that of ECS."""
    queue_priority: int

    @property
    @override
    def key(self) -> str:
        """Key in the stack file."""
        return f"architecture.compute_environments.{self.name}"

    @property
    @override
    def image(self) -> ImageSource:
        """The ECS-optimized AMI, or the one in the stack file."""
        if self.custom_ami_id is None and self.image_type is not None:
            architecture = self.instance_type.architecture
            return ImageSource(parameter=image_parameter(self.image_type, architecture))
        return ImageSource(image_id=self.custom_ami_id)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """The complete plan of a Batch stack."""

    kind: ClassVar = "batch"
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
    notes: tuple[str, ...] = ()

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
