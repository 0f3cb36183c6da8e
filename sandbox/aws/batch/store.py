"""The state of Batch: compute environments with nodes, job queues, job definitions, jobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NoReturn

from moto.batch.exceptions import ClientException
from moto.core.base_backend import BackendDict, BaseBackend
from moto.core.resource_tagging import TaggableResourcesMixin, TaggedResource
from moto.core.responses import BaseResponse
from moto.ec2.models import ec2_backends

from trainyard.sandbox.faults.kinds import Course

# Batch's client error, `ClientException`.
#
# https://docs.aws.amazon.com/batch/latest/APIReference/CommonErrors.html


def refuse(message: str) -> NoReturn:
    """Respond to the current request with a Batch error.

    Raises:
        ClientException: always.
    """
    raise ClientException(message)


def only(asked: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    """Reject fields that the sandbox would ignore.

    Raises:
        NotImplementedError: It names them.
    """
    unknown = sorted(key for key in asked.keys() - set(known) if asked[key] not in (None, [], {}))
    if unknown:
        raise NotImplementedError(f"{where} with {', '.join(unknown)}")


Fields = dict[str, Any]

WAITING: frozenset[str] = frozenset({"SUBMITTED", "PENDING", "RUNNABLE"})
"""States of a job without a node.
https://docs.aws.amazon.com/batch/latest/userguide/job_states.html"""
ENDED: frozenset[str] = frozenset({"SUCCEEDED", "FAILED"})
"""Final states of a job."""


@dataclass(kw_only=True)
class Node:
    """An instance of a compute environment.

    Attributes:
        instance: moto's instance.
        generation: Generation of the environment's infrastructure at its launch.
        idle_since: When its last job ended; None while it has a job.
        jobs: Ids of the jobs on it.
    """

    instance: Any
    generation: int
    idle_since: datetime | None
    jobs: set[str] = field(default_factory=set)


@dataclass(kw_only=True)
class ComputeEnvironment:
    """A compute environment.

    Attributes:
        fields: The fields of DescribeComputeEnvironments; calls change them in place.
        nodes: Its instances.
        generation: Number of infrastructure updates; older nodes accept no jobs.
        template_version: Launch template version for new nodes; `$Latest` and `$Default` are
            resolved at creation and at infrastructure updates.
        next_attempt: When a failed launch is retried.
        refusal: Why the last launch failed, or None.
    """

    fields: Fields
    nodes: list[Node] = field(default_factory=list)
    generation: int = 0
    template_version: str | None = None
    next_attempt: datetime | None = None
    refusal: str | None = None

    @property
    def arn(self) -> str:
        """Its ARN."""
        return self.fields["computeEnvironmentArn"]

    @property
    def resources(self) -> Fields:
        """Its `computeResources`."""
        return self.fields["computeResources"]

    @property
    def takes_jobs(self) -> bool:
        """Whether it is enabled and valid."""
        return self.fields["state"] == "ENABLED" and self.fields["status"] == "VALID"


@dataclass(kw_only=True)
class Run:
    """A container of an attempt.

    Attributes:
        course: What it does.
        log_stream: Its stream in CloudWatch Logs.
        started: When it was started.
        exit_code: Its exit code; None while it runs, or if its node was lost.
        reason: Why it has ended; empty while it runs.
    """

    course: Course
    log_stream: str
    started: datetime
    exit_code: int | None = None
    reason: str = ""


@dataclass(kw_only=True)
class Job:
    """A job.

    Attributes:
        fields: The fields of DescribeJobs, except for those that depend on the state.
        queue_arn: Its queue.
        node_count: Number of nodes; 1 for a job that is not multi-node parallel.
        containers: The containers of its nodes, one for each range of nodes.
        instance_types: Instance types in its definition; empty for any.
        since: When it entered its state.
        nodes: Its nodes, the main node first.
        runs: The container of each node in the last attempt, the main node first; empty before.
        environment: Its compute environment.
    """

    fields: Fields
    queue_arn: str
    node_count: int
    containers: list[Mapping[str, Any]]
    instance_types: frozenset[str]
    since: datetime
    nodes: list[Node] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    environment: ComputeEnvironment | None = None

    @property
    def identifier(self) -> str:
        """Its id."""
        return self.fields["jobId"]

    @property
    def status(self) -> str:
        """Its state."""
        return self.fields["status"]

    @property
    def is_multinode(self) -> bool:
        """Whether it is a multi-node parallel job."""
        return "nodeProperties" in self.fields


Kind = Literal["compute-environment", "job-queue"]


class BatchStore(BaseBackend, TaggableResourcesMixin):
    """All Batch objects of an account and region; moto resets it with its own backends."""

    SERVICE_NAMESPACE = "batch"

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.environments: dict[str, ComputeEnvironment] = {}
        """By ARN, like queues and definitions."""
        self.queues: dict[str, Fields] = {}
        self.definitions: dict[str, Fields] = {}
        self.revisions: dict[str, int] = {}
        """The last revision of each name; revision numbers are never reused."""
        self.jobs: dict[str, Job] = {}
        """By id, in order of submission."""

    def arn(self, kind: str, name: str) -> str:
        """Return the ARN of an object of Batch."""
        return f"arn:{self.partition}:batch:{self.region_name}:{self.account_id}:{kind}/{name}"

    def environment(self, name_or_arn: str) -> ComputeEnvironment:
        """Return a compute environment.

        Raises:
            ClientException: It does not exist.
        """
        found = self.environments.get(self._full("compute-environment", name_or_arn))
        return found or refuse(f"Object does not exist: {name_or_arn} does not exist")

    def queue(self, name_or_arn: str) -> Fields:
        """Return a job queue.

        Raises:
            ClientException: It does not exist.
        """
        found = self.queues.get(self._full("job-queue", name_or_arn))
        return found or refuse(f"JobQueue {name_or_arn} does not exist.")

    def definition(self, reference: str) -> Fields:
        """Return the job definition of an ARN, of `name:revision`, or the newest active of a name.

        Raises:
            ClientException: It does not exist.
        """
        full = self._full("job-definition", reference)
        if full in self.definitions:
            return self.definitions[full]
        active = [each for each in self.definitions.values() if each["status"] == "ACTIVE"]
        named = [each for each in active if each["jobDefinitionArn"].rpartition(":")[0] == full]
        if not named:
            refuse(f"Job definition {reference} does not exist.")
        return max(named, key=lambda each: each["revision"])

    def described(self, kind: Kind, wanted: list[str] | None) -> Iterator[Fields]:
        """Yield the descriptions of the named objects, or of all."""
        every = {arn: each.fields for arn, each in self.environments.items()}
        found = every if kind == "compute-environment" else self.queues
        if not wanted:
            yield from found.values()
        for name in wanted or []:
            if self._full(kind, name) in found:
                yield found[self._full(kind, name)]

    def jobs_of(self, queue_arn: str) -> list[Job]:
        """Return the jobs of a queue, oldest first."""
        return [job for job in self.jobs.values() if job.queue_arn == queue_arn]

    def tags_by_arn(self) -> dict[str, dict[str, str]]:
        """Return the tags of all objects; changes of them are kept.

        Jobs that have ended are among them for at least seven days, and deregistered job
        definitions for 180 days.
        https://docs.aws.amazon.com/batch/latest/userguide/job_states.html
        https://docs.aws.amazon.com/batch/latest/APIReference/API_DeregisterJobDefinition.html
        """
        every: dict[str, Fields] = {
            **{arn: each.fields for arn, each in self.environments.items()},
            **self.queues,
            **self.definitions,
            **{each.fields["jobArn"]: each.fields for each in self.jobs.values()},
        }
        return {arn: fields["tags"] for arn, fields in every.items()}

    def iter_tagged_resources(self) -> Iterator[TaggedResource]:
        """Yield what `tag:GetResources` lists.

        https://docs.aws.amazon.com/batch/latest/userguide/using-tags.html
        """
        for arn, tags in self.tags_by_arn().items():
            kind = arn.split(":")[5].partition("/")[0]
            yield TaggedResource(arn=arn, tags=dict(tags), resource_type=f"batch:{kind}")

    def _full(self, kind: str, name_or_arn: str) -> str:
        return name_or_arn if name_or_arn.startswith("arn:") else self.arn(kind, name_or_arn)


batch_stores: BackendDict[BatchStore] = BackendDict(BatchStore, "batch")


class BatchBase(BaseResponse):
    """A Batch response class: parameters parsed with botocore's model, state in `BatchStore`."""

    params: Any

    def __init__(self) -> None:
        super().__init__(service_name="batch")
        self.automated_parameter_parsing = True

    @property
    def store(self) -> BatchStore:
        """The Batch objects of the request's account and region."""
        return batch_stores[self.current_account][self.region]

    @property
    def ec2(self) -> Any:
        """EC2 backend of moto for the request's account and region."""
        return ec2_backends[self.current_account][self.region]
