"""The AWS Batch architecture: compute environments, their job queues, and job definitions.

Source: https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html
"""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import override

from components.config.base import StrictModel, Text
from components.config.batch_fields import (
    ContainerImage,
    EnvironmentVariable,
    JobName,
    RepositoryName,
)
from components.config.node_pool import KeyName, NodePool, PolicyName
from components.config.parallelcluster_fields import AmiId
from components.config.pools import Pool, pool_of
from components.config.stack import Architecture

MOST_TIMEOUT_MINUTES = (2**31 - 1) // 60
"""`attemptDurationSeconds` is an integer of 32 bits, and knows no other maximum.

https://docs.aws.amazon.com/batch/latest/APIReference/API_JobTimeout.html
"""
MOST_IMAGES = 100_000
"""Quota of images in one ECR repository.

https://docs.aws.amazon.com/AmazonECR/latest/userguide/service-quotas.html
"""


class ComputeEnvironment(NodePool):
    """Nodes that Batch starts when jobs wait, with the job queue in front of them."""

    minimum: Annotated[int, Field(ge=0)] = 0
    """Nodes that stay when no job waits. With a Capacity Block they must fit into it."""
    maximum: Annotated[int, Field(ge=1)]
    """Most nodes; Batch counts their vCPUs."""
    image: Literal["auto", "custom"] = "auto"
    """`auto`: the ECS-optimized image that has the drivers of the type, chosen by Batch when a node
    starts. `custom`: `custom_ami_id`."""
    custom_ami_id: AmiId | None = None
    """AMI of the nodes, with the ECS agent."""
    ssh_key_name: KeyName | None = None
    """Key pair for SSH; without one nodes are reached through Session Manager."""
    iam_policies: tuple[PolicyName, ...] = ()
    """Further AWS managed policies of the nodes' role, by name."""
    queue_priority: Annotated[int, Field(ge=0, le=1000)] = 1
    """Priority of the job queue among those that share nodes; a larger number goes first."""


class JobDefinition(StrictModel):
    """A job: one container on one node, or one on each of several nodes that work together."""

    compute_environment: JobName
    """Entry of `compute_environments` whose nodes it is made for."""
    nodes: Annotated[int, Field(ge=1, le=1000)] = 1
    """Nodes of one job; with more than one it is a multi-node parallel job, and a submission may
    give another number (`./trainyard job STACK JOB --nodes`)."""
    image: ContainerImage = "nccl-tests"
    """Container image: `nccl-tests` (NVIDIA GPUs) and `nccom-tests` (Trainium) are public ones that
    the program pins, `repository` is the stack's own repository."""
    command: tuple[Text, ...] = ()
    """Command of the container; left out, for `nccl-tests` and `nccom-tests` an all-reduce over all
    GPUs or NeuronCores of all nodes, else that of the image."""
    environment: dict[EnvironmentVariable, Text] = Field(default_factory=dict)
    """Environment variables of the container."""
    vcpus: Annotated[int, Field(ge=1)] | None = None
    """vCPUs of each container; left out, all of the type."""
    memory_mib: Annotated[int, Field(ge=4)] | None = None
    """Memory of each container, MiB; left out, what ECS leaves of the type's."""
    accelerators: Annotated[int, Field(ge=0)] | None = None
    """GPUs or Neuron devices of each container; left out, all of the type."""
    efa_interfaces: Annotated[int, Field(ge=0)] | None = None
    """EFA devices of each container; left out, all of the type where EFA is on."""
    shared_memory_mib: Annotated[int, Field(ge=64)] | None = None
    """Size of `/dev/shm`, MiB; left out, a size that NCCL is content with on every type."""
    attempts: Annotated[int, Field(ge=1, le=10)] = 1
    """How often a job that fails is tried."""
    timeout_minutes: Annotated[int, Field(ge=1, le=MOST_TIMEOUT_MINUTES)] | None = None
    """Minutes after which an attempt is ended; left out, never."""
    iam_policies: tuple[PolicyName, ...] = ()
    """AWS managed policies of the job's own role, by name; left out, the job may do nothing."""


class ContainerRepository(StrictModel):
    """An ECR repository for the images of jobs: scanned, encrypted, its tags never overwritten."""

    name: RepositoryName | None = None
    """Name, such as `team/nccl-tests`; left out, that of the stack."""
    untagged_days: Annotated[int, Field(ge=1)] = 14
    """Days after which an image without a tag goes."""
    kept_images: Annotated[int, Field(ge=1, le=MOST_IMAGES)] = 100
    """Tagged images to keep; older ones go."""
    deletion_protection: bool = True
    """Whether the repository outlives `destroy`, with its images."""


class BatchArchitecture(Architecture):
    """Container jobs on AWS Batch."""

    POOL_NOUN = PLACE_NOUN = "compute environment"

    kind: Literal["batch"]
    """AWS Batch."""
    compute_environments: Annotated[dict[JobName, ComputeEnvironment], Field(min_length=1)]
    """Compute environments, by name; each has a job queue of its own."""
    job_definitions: dict[JobName, JobDefinition] = Field(default_factory=dict)
    """Job definitions, by name."""
    repository: ContainerRepository | None = None
    """A repository for images of your own."""

    @override
    def pools(self) -> tuple[Pool, ...]:
        """Return the compute environments."""
        return tuple(
            pool_of(
                "architecture.compute_environments",
                name,
                environment,
                # A job on all nodes waits forever if the reservation has fewer.
                wanted=environment.maximum,
                wanted_key="maximum",
                least=1,
                maximum=environment.maximum,
            )
            for name, environment in self.compute_environments.items()
        )

    @override
    def key_names(self) -> frozenset[str]:
        """Return the names of the key pairs in the stack file."""
        named = (each.ssh_key_name for each in self.compute_environments.values())
        return frozenset(name for name in named if name is not None)

    @override
    def image_ids(self) -> tuple[str, ...]:
        """Return the ids of the AMIs in the stack file."""
        named = (each.custom_ami_id for each in self.compute_environments.values())
        return tuple(dict.fromkeys(image_id for image_id in named if image_id is not None))
