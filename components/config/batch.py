"""The AWS Batch architecture: compute environments, their job queues, and job definitions."""

import difflib
from typing import Annotated, Literal, Self

from pydantic import Field
from pydantic_core import PydanticCustomError
from typing_extensions import override

from trainyard.components.catalog.batch import REPOSITORY_NAME
from trainyard.components.catalog.image_references import (
    PATTERN,
    ImageReferenceError,
    in_registry,
)
from trainyard.components.catalog.secret_arns import SECRET_ARN
from trainyard.components.config.base import AmiId, EffectiveWith, Form, StrictModel, Switch, Text
from trainyard.components.config.node_pool import (
    BlockPools,
    KeyName,
    NodePool,
    PolicyName,
    Pool,
    pool_of,
)
from trainyard.components.config.stack import (
    Architecture,
    JobLimit,
    PlacedStackConfig,
    StackConfig,
)

# https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateJobQueue.html, `jobQueueName`:
# 128 characters, including Pulumi's random suffix and the name of the stack.
JobName = Annotated[
    str,
    Form(
        pattern=r"[A-Za-z0-9][A-Za-z0-9_-]{0,47}",
        expected=(
            "a name of at most 48 letters, digits, hyphens and underscores that begins with a "
            "letter or a digit"
        ),
        example="nccl-tests",
    ),
]
RepositoryName = Annotated[
    str,
    Form(
        pattern=REPOSITORY_NAME,
        expected=(
            "the name of an ECR repository: 2 to 256 small letters and digits, with single `.`, "
            "`_`, `/` and with hyphens between them"
        ),
        example="team/nccl-tests",
    ),
]
OWN_IMAGES = ("nccl-tests", "nccom-tests", "repository")
LONGEST_IMAGE = 255
"""https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerProperties.html, `image`"""


class _ImageForm(Form):
    """The form of the image of a job: `parsed` decides, and the pattern is for editors."""

    @override
    def _check(self, value: str) -> str:
        """Return the reference as ECS parses it."""
        if value in OWN_IMAGES:
            return value
        near = difflib.get_close_matches(value, OWN_IMAGES, n=1, cutoff=0.8)
        if near and not set(value) & set("/:@"):
            raise self._wrong(f"`{near[0]}`, nor an image with a tag", near[0])
        try:
            name = in_registry(value, starts="AWS Batch").name
        except ImageReferenceError as error:
            raise self._wrong(f"a container image: it {error.why}", error.meant) from error
        if len(name) > LONGEST_IMAGE:
            raise self._wrong(f"an image of at most {LONGEST_IMAGE} characters", "")
        return name

    def _wrong(self, expected: str, meant: str) -> PydanticCustomError:
        example = meant or self.example
        return PydanticCustomError(
            "form", "is not {expected}", {"expected": expected, "example": example}
        )


ContainerImage = Annotated[
    str,
    _ImageForm(
        pattern=PATTERN,
        expected=(
            "`nccl-tests`, `nccom-tests`, `repository`, or a container image: its registry if it "
            "is not one of Docker Hub, its path in small letters, and a tag or a digest"
        ),
        example="public.ecr.aws/hpc-cloud/nccl-tests:cuda12.8.1-efa1.42.0-ofiv1.16.0-ncclv2.27.5-1-testsv2.16.4",
        names="container-image",
    ),
]
# https://docs.aws.amazon.com/batch/latest/APIReference/API_KeyValuePair.html: `AWS_BATCH` is a
# reserved prefix.
EnvironmentVariable = Annotated[
    str,
    Form(
        pattern=r"(?!AWS_BATCH)[A-Za-z_][A-Za-z0-9_]*",
        expected="the name of an environment variable that does not begin with `AWS_BATCH`",
        example="NCCL_DEBUG",
    ),
]
# https://docs.aws.amazon.com/batch/latest/APIReference/API_Secret.html, `valueFrom`. The name of a
# parameter alone is possible there, but a role can only be allowed to read an ARN.
SecretReference = Annotated[
    str,
    Form(
        pattern=SECRET_ARN,
        expected=(
            "the ARN of a secret of Secrets Manager, with `:JSON_KEY:VERSION_STAGE:VERSION_ID` for "
            "a part of it, or of a parameter of Parameter Store"
        ),
        example="arn:aws:secretsmanager:us-west-2:123456789012:secret:hf-AbCdEf",
        where="the ARN that `aws secretsmanager describe-secret --secret-id NAME` prints",
    ),
]


# The AWS Batch architecture: compute environments, their job queues, and job definitions.
#
# Source: https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html


MOST_TIMEOUT_MINUTES = (2**31 - 1) // 60
"""`attemptDurationSeconds` is a 32-bit integer, and AWS documents no other maximum.

https://docs.aws.amazon.com/batch/latest/APIReference/API_JobTimeout.html
"""
MOST_IMAGES = 100_000
"""Quota of images in one ECR repository.

https://docs.aws.amazon.com/AmazonECR/latest/userguide/service-quotas.html
"""


class ComputeEnvironment(NodePool):
    """Nodes that Batch launches when jobs wait, and their job queue."""

    minimum: Annotated[int, Field(ge=0)] = 0
    """Minimum number of nodes, which keep running when no job waits. In a Capacity Block, at most
    the number of its instances."""
    maximum: Annotated[int, Field(ge=1)]
    """Maximum number of nodes. Batch receives it as a number of vCPUs."""
    image: Literal["auto", "custom"] = "auto"
    """`auto`: Batch selects the ECS-optimized AMI with the drivers of the instance type when it
    launches a node. `custom`: the AMI in `custom_ami_id`."""
    custom_ami_id: AmiId | None = None
    """AMI of the nodes. It must have the ECS agent."""
    ssh_key_name: KeyName | None = None
    """EC2 key pair for SSH. If omitted, use Session Manager to connect to nodes."""
    iam_policies: tuple[PolicyName, ...] = ()
    """Names of AWS managed policies to attach to the nodes' instance role in addition to the
    required ones."""
    queue_priority: Annotated[int, Field(ge=0, le=1000)] = 1
    """Priority of the job queue among queues that share nodes. Queues with a higher number go
    first."""


class JobDefinition(StrictModel):
    """A job: one container on one node, or one on each node of a multi-node parallel job."""

    compute_environment: JobName
    """Entry of `compute_environments` whose nodes the job runs on."""
    nodes: Annotated[int, Field(ge=1, le=1000)] = 1
    """Number of nodes of one job. With more than one, it is a multi-node parallel job, and a
    submission can set a different number (`./trainyard job STACK JOB --nodes`)."""
    image: ContainerImage = "nccl-tests"
    """Container image. `nccl-tests` (NVIDIA GPUs) and `nccom-tests` (Trainium) are public images
    whose versions the program pins. `repository` is the stack's own ECR repository."""
    command: tuple[Text, ...] = ()
    """Command of the container. If omitted, `nccl-tests` and `nccom-tests` run an all-reduce over
    all GPUs or NeuronCores of all nodes; other images run their own command."""
    environment: dict[EnvironmentVariable, Text] = Field(default_factory=dict)
    """Environment variables of the container."""
    secrets: dict[EnvironmentVariable, SecretReference] = Field(default_factory=dict)
    """Secrets of the container, by environment variable: the ARN of a secret of Secrets Manager or
    of a parameter of Parameter Store. `:JSON_KEY:VERSION_STAGE:VERSION_ID` after the ARN of a
    secret names a part of it. ECS reads the value when the container starts, with a role that may
    read these secrets only; the job definition has their ARNs."""
    vcpus: Annotated[int, Field(ge=1)] | None = None
    """vCPUs of each container. If omitted, all vCPUs of the instance type."""
    memory_mib: Annotated[int, Field(ge=4)] | None = None
    """Memory of each container in MiB. If omitted, all memory of the instance type that ECS leaves
    to containers."""
    accelerators: Annotated[int, Field(ge=0)] | None = None
    """GPUs or Neuron devices of each container. If omitted, all devices of the instance type."""
    efa_interfaces: Annotated[int, Field(ge=0)] | None = None
    """EFA devices of each container. If omitted, all devices of the instance type if EFA is on."""
    shared_memory_mib: Annotated[int, Field(ge=64)] | None = None
    """Size of `/dev/shm` in MiB. If omitted, a size that is sufficient for NCCL on every instance
    type."""
    attempts: Annotated[int, Field(ge=1, le=10)] = 1
    """Maximum number of attempts of a job that fails."""
    timeout_minutes: Annotated[int, Field(ge=1, le=MOST_TIMEOUT_MINUTES)] | None = None
    """Minutes after which Batch terminates an attempt. If omitted, there is no timeout."""
    iam_policies: tuple[PolicyName, ...] = ()
    """Names of AWS managed policies to attach to the job role. If omitted, the job has no
    permissions."""


_OF_A_NEW_ONE = EffectiveWith(
    (Switch("adopt", (False,)),),
    why="an adopted repository keeps its lifecycle policy and its images",
)


class ContainerRepository(StrictModel):
    """An ECR repository for the images of jobs. A new one is scanned, encrypted and immutable."""

    name: RepositoryName | None = None
    """Name of the repository, such as `team/nccl-tests`. If omitted, the name of the stack."""
    untagged_days: Annotated[int, Field(ge=1), _OF_A_NEW_ONE] = 14
    """Days after which untagged images expire."""
    kept_images: Annotated[int, Field(ge=1, le=MOST_IMAGES), _OF_A_NEW_ONE] = 100
    """Number of tagged images to keep. Older images expire."""
    deletion_protection: bool = True
    """Whether `destroy` keeps the repository and its images."""
    adopt: bool = False
    """Whether the repository exists, and the stack imports it instead of creating one. It keeps
    its settings, lifecycle policy and tags. Keep the key after the import."""


class BatchArchitecture(Architecture):
    """Container jobs on AWS Batch."""

    POOL_NOUN = PLACE_NOUN = "compute environment"
    BLOCK_STARTS = "the compute environment opens, and nodes launch for the jobs in the queue"
    BLOCK_DRAINS = "the compute environment closes; jobs that have not started wait in the queue"

    kind: Literal["batch"]
    """AWS Batch."""
    compute_environments: Annotated[dict[JobName, ComputeEnvironment], Field(min_length=1)]
    """Compute environments, by name. Each has its own job queue."""
    job_definitions: dict[JobName, JobDefinition] = Field(default_factory=dict)
    """Job definitions, by name."""
    repository: ContainerRepository | None = None
    """An ECR repository for your own images."""

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
                at_once=environment.minimum,
                at_once_keys=("minimum",),
            )
            for name, environment in self.compute_environments.items()
        )

    def environments_with_queues(self) -> dict[str, ComputeEnvironment]:
        """Return the compute environments of the stack file, whose queues use `further_blocks`."""
        environments = self.compute_environments.items()
        return {name: each for name, each in environments if each.pool_named(name) == name}

    @override
    def in_every_block(self, blocks: BlockPools) -> Self:
        """Return the architecture with a compute environment for each of `further_blocks`."""
        key = "architecture.compute_environments"
        environments = blocks.expand(key, self.compute_environments, JobName)
        return self.model_copy(update={"compute_environments": environments})

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

    @override
    def job_limits(self) -> tuple[JobLimit, ...]:
        """Return the timeouts of job definitions."""
        environments = self.compute_environments.items()
        return tuple(
            JobLimit(
                f"architecture.job_definitions.{name}.timeout_minutes",
                definition.timeout_minutes,
                tuple(
                    dict.fromkeys(
                        each.purchase_option
                        for entry, each in environments
                        if each.pool_named(entry) == definition.compute_environment
                    )
                ),
            )
            for name, definition in self.job_definitions.items()
            if definition.timeout_minutes is not None
        )


class GivenBatchStack(StackConfig):
    """A stack file whose architecture is AWS Batch."""

    architecture: BatchArchitecture  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """What runs in the network."""


class BatchStackConfig(PlacedStackConfig):
    """A stack whose architecture is AWS Batch."""

    architecture: BatchArchitecture  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """What runs in the network."""
