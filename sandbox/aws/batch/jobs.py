"""Job queues, and the jobs that are submitted to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from moto.core.responses import ActionResult, EmptyResult
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.batch.definitions import (
    DefinitionCalls,
    check_container,
    overridden_count,
)
from trainyard.sandbox.aws.batch.environments import check_name
from trainyard.sandbox.aws.batch.scheduler import described_node, end_attempt, milliseconds, tick
from trainyard.sandbox.aws.batch.store import ENDED, WAITING, Fields, Job, only, refuse
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.transitions import TRANSITIONS

# CreateJobQueue, UpdateJobQueue, DescribeJobQueues, DeleteJobQueue.
#
# https://docs.aws.amazon.com/batch/latest/userguide/job_queues.html


_QUEUE_TYPE = "aws:batch/jobQueue:JobQueue"
_VALID = {"status": "VALID", "statusReason": "JobQueue Healthy"}
_MOST_ENVIRONMENTS = 3
"""https://docs.aws.amazon.com/batch/latest/userguide/service_limits.html"""
_FIELDS = ("state", "priority", "computeEnvironmentOrder", "jobStateTimeLimitActions")


class QueueCalls(DefinitionCalls):
    """Calls on job queues; mixed into the Batch response class."""

    def create_job_queue(self) -> ActionResult:
        """CreateJobQueue: requires valid environments."""
        asked: Mapping[str, Any] = self.params
        only(asked, (*_FIELDS, "jobQueueName", "tags"), "a job queue")
        name = asked["jobQueueName"]
        check_name(name)
        arn = self.store.arn("job-queue", name)
        if arn in self.store.queues:
            refuse(f"Object already exists: {name}")
        queue: Fields = {
            "jobQueueName": name,
            "jobQueueArn": arn,
            "state": asked.get("state") or "ENABLED",
            "status": "CREATING",
            "statusReason": "",
            "priority": asked["priority"],
            "computeEnvironmentOrder": self._order(asked.get("computeEnvironmentOrder")),
            "jobStateTimeLimitActions": asked.get("jobStateTimeLimitActions") or [],
            "tags": dict(asked.get("tags") or {}),
        }
        self.store.queues[arn] = queue
        TRANSITIONS.begin(_QUEUE_TYPE, "create", lambda: queue.update(_VALID))
        return ActionResult({"jobQueueName": name, "jobQueueArn": arn})

    def update_job_queue(self) -> ActionResult:
        """UpdateJobQueue: fields that are not given are kept."""
        asked: Mapping[str, Any] = self.params
        only(asked, (*_FIELDS, "jobQueue"), "an update of a job queue")
        queue = self.store.queue(asked["jobQueue"])
        if asked.get("computeEnvironmentOrder") is not None:
            queue["computeEnvironmentOrder"] = self._order(asked["computeEnvironmentOrder"])
        for key in ("state", "priority", "jobStateTimeLimitActions"):
            if asked.get(key) is not None:
                queue[key] = asked[key]
        return ActionResult({key: queue[key] for key in ("jobQueueName", "jobQueueArn")})

    def describe_job_queues(self) -> ActionResult:
        """DescribeJobQueues."""
        found = self.store.described("job-queue", self.params.get("jobQueues"))
        return ActionResult({"jobQueues": list(found)})

    def delete_job_queue(self) -> EmptyResult:
        """DeleteJobQueue: must be disabled; its jobs end."""
        name = self.params["jobQueue"]
        arn = name if name.startswith("arn:") else self.store.arn("job-queue", name)
        queue = self.store.queues.get(arn)
        if queue is None:
            return EmptyResult()
        if queue["state"] != "DISABLED":
            refuse("Cannot delete, state must be DISABLED")
        for job in self.store.jobs_of(arn):
            if job.status not in ENDED:
                end_attempt(
                    self.store, job, exit_code=None, reason="Job queue was deleted", final=True
                )
        queue.update(status="DELETING", statusReason="")
        queues = self.store.queues
        TRANSITIONS.begin(_QUEUE_TYPE, "delete", lambda: queues.pop(arn, None))
        return EmptyResult()

    def _order(self, asked: list[Fields] | None) -> list[Fields]:
        """Return the environments of a queue by their ARNs."""
        if not asked:
            refuse("At least one compute environment must be provided.")
        if len(asked) > _MOST_ENVIRONMENTS:
            refuse(f"A job queue has at most {_MOST_ENVIRONMENTS} compute environments.")
        order: list[Fields] = []
        for each in asked:
            environment = self.store.environment(each["computeEnvironment"])
            if environment.fields["status"] != "VALID":
                refuse(f"{environment.arn} is not VALID: {environment.fields['statusReason']}")
            order.append({"order": each["order"], "computeEnvironment": environment.arn})
        return sorted(order, key=lambda each: each["order"])


# How a submission overrides its job definition: containers and nodes.
#
# Sources:
#     https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerOverrides.html
#     https://docs.aws.amazon.com/batch/latest/APIReference/API_NodeOverrides.html


_OVERRIDES = ("vcpus", "memory", "command", "environment", "resourceRequirements")

_RANGE_OVERRIDES = ("targetNodes", "containerOverrides", "instanceTypes")


@dataclass(frozen=True, kw_only=True)
class Extent:
    """The workload of a job.

    Attributes:
        fields: The fields of DescribeJobs.
        node_count: Number of nodes.
        containers: A container for each range of nodes.
        instance_types: Instance types in the definition; empty for any.
    """

    fields: Fields
    node_count: int
    containers: list[Mapping[str, Any]]
    instance_types: frozenset[str]


def one_container(asked: Mapping[str, Any], definition: Fields) -> Extent:
    """Return the single container of a job.

    Raises:
        ClientException: The job has no nodes to override.
    """
    if asked.get("nodeOverrides"):
        refuse("nodeOverrides are for jobs of multi-node parallel job definitions.")
    container = _overridden(definition["containerProperties"], asked.get("containerOverrides"))
    wanted = container.get("instanceType")
    return Extent(
        fields={"container": dict(container)},
        node_count=1,
        containers=[container],
        instance_types=frozenset({wanted} if wanted else ()),
    )


def job_nodes(asked: Mapping[str, Any], definition: Fields) -> Extent:
    """Return the nodes of a multi-node parallel job.

    Raises:
        ClientException: Overrides that its definition does not allow.
    """
    if asked.get("containerOverrides"):
        refuse("containerOverrides are not for multi-node parallel jobs: use nodeOverrides.")
    overrides = asked.get("nodeOverrides") or {}
    only(overrides, ("numNodes", "nodePropertyOverrides"), "overrides of nodes")
    properties = definition["nodeProperties"]
    count = properties["numNodes"]
    if overrides.get("numNodes"):
        count = overridden_count(properties, overrides["numNodes"])
    changes = {each["targetNodes"]: each for each in overrides.get("nodePropertyOverrides") or []}
    known = {each["targetNodes"] for each in properties["nodeRangeProperties"]}
    if changes.keys() - known:
        refuse(
            f"The job definition has the node ranges {', '.join(sorted(known))}, and not "
            f"{', '.join(sorted(changes.keys() - known))}."
        )
    ranges = [_range(each, changes) for each in properties["nodeRangeProperties"]]
    types = {kind for each in ranges for kind in each.get("instanceTypes") or []}
    nodes = {**properties, "numNodes": count, "nodeRangeProperties": ranges}
    return Extent(
        fields={"nodeProperties": nodes},
        node_count=count,
        containers=[each["container"] for each in ranges],
        instance_types=frozenset(types),
    )


def _range(properties: Fields, changes: Mapping[str, Fields]) -> Fields:
    change = changes.get(properties["targetNodes"], {})
    only(change, _RANGE_OVERRIDES, "overrides of a node range")
    types = change.get("instanceTypes")
    return {
        **properties,
        "container": _overridden(properties["container"], change.get("containerOverrides")),
        **({"instanceTypes": types} if types else {}),
    }


def _overridden(container: Fields, overrides: Mapping[str, Any] | None) -> Fields:
    """Return a container with a submission's overrides: variables and resources individually."""
    given = overrides or {}
    only(given, _OVERRIDES, "overrides of a container")
    merged = {
        "environment": _merged(container, given, "environment", by="name"),
        "resourceRequirements": _merged(container, given, "resourceRequirements", by="type"),
    }
    single = {key: given[key] for key in ("vcpus", "memory", "command") if given.get(key)}
    return {**container, **single, **merged}


def _merged(before: Fields, after: Mapping[str, Any], field: str, *, by: str) -> list[Fields]:
    both = (*before[field], *(after.get(field) or []))
    return list({each[by]: each for each in both}.values())


# SubmitJob, DescribeJobs, ListJobs, CancelJob, TerminateJob.
#
# https://docs.aws.amazon.com/batch/latest/APIReference/API_SubmitJob.html


_ASKED = (
    "jobName",
    "jobQueue",
    "jobDefinition",
    "parameters",
    "containerOverrides",
    "nodeOverrides",
    "retryStrategy",
    "propagateTags",
    "timeout",
    "tags",
)
_SUMMARY = (
    "jobArn",
    "jobId",
    "jobName",
    "createdAt",
    "status",
    "statusReason",
    "startedAt",
    "stoppedAt",
    "jobDefinition",
)


class JobCalls(QueueCalls):
    """Calls on jobs; mixed into the Batch response class."""

    def submit_job(self) -> ActionResult:
        """SubmitJob: starts at once if a node is free or can be launched, otherwise waits."""
        asked: Mapping[str, Any] = self.params
        only(asked, _ASKED, "a job")
        check_name(asked["jobName"])
        queue = self.store.queue(asked["jobQueue"])
        definition = self.store.definition(asked["jobDefinition"])
        if queue["state"] != "ENABLED":
            refuse(f"Job queue {queue['jobQueueArn']} is DISABLED and takes no jobs.")
        if definition["status"] != "ACTIVE":
            refuse(f"Job definition {definition['jobDefinitionArn']} is not ACTIVE.")
        job = self._job(asked, queue, definition)
        self._check_market(job, queue)
        self.store.jobs[job.identifier] = job
        tick(self.store, self.ec2)
        return ActionResult({key: job.fields[key] for key in ("jobArn", "jobName", "jobId")})

    def describe_jobs(self) -> ActionResult:
        """DescribeJobs: jobs, and nodes of multi-node parallel jobs; unknown ids are omitted."""
        wanted: list[str] = self.params["jobs"]
        found = [self._described(each) for each in wanted]
        return ActionResult({"jobs": [each for each in found if each is not None]})

    def _described(self, name: str) -> Fields | None:
        identifier, _, index = name.rpartition("/")[2].partition("#")
        job = self.store.jobs.get(identifier)
        if job is None or not index:
            return job and job.fields
        return described_node(job, int(index)) if index.isdecimal() else None

    def list_jobs(self) -> ActionResult:
        """ListJobs of a queue: running jobs, those in a state, or all with a name."""
        asked: Mapping[str, Any] = self.params
        only(asked, ("jobQueue", "jobStatus", "maxResults", "filters"), "a list of jobs")
        jobs = self.store.jobs_of(self.store.queue(asked["jobQueue"])["jobQueueArn"])
        if asked.get("filters"):
            found = _filtered(jobs, asked["filters"])
        else:
            status = asked.get("jobStatus") or "RUNNING"
            found = [job for job in jobs if job.status == status]
        summaries = [
            {key: job.fields[key] for key in _SUMMARY if key in job.fields} for job in found
        ]
        return ActionResult({"jobSummaryList": summaries})

    def cancel_job(self) -> EmptyResult:
        """CancelJob: has no effect on a job that has a node."""
        self._end(WAITING)
        return EmptyResult()

    def terminate_job(self) -> EmptyResult:
        """TerminateJob: ends the job in any state."""
        self._end(WAITING | {"STARTING", "RUNNING"})
        return EmptyResult()

    def _end(self, states: frozenset[str]) -> None:
        job = self.store.jobs.get(self.params["jobId"].rpartition("/")[2])
        if job is not None and job.status in states:
            end_attempt(self.store, job, exit_code=None, reason=self.params["reason"], final=True)
            tick(self.store, self.ec2)

    def _job(self, asked: Mapping[str, Any], queue: Fields, definition: Fields) -> Job:
        now, identifier = CLOCK.now(), str(mock_random.uuid4())
        multinode = definition["type"] == "multinode"
        extent = (job_nodes if multinode else one_container)(asked, definition)
        for container in extent.containers:
            check_container(container)
        own = {key: asked.get(key) or definition.get(key) for key in ("timeout", "retryStrategy")}
        fields: Fields = {
            "jobArn": self.store.arn("job", identifier),
            "jobId": identifier,
            "jobName": asked["jobName"],
            "jobQueue": queue["jobQueueArn"],
            "jobDefinition": definition["jobDefinitionArn"],
            "status": "RUNNABLE",
            "createdAt": milliseconds(now),
            "attempts": [],
            "dependsOn": [],
            "parameters": {**definition["parameters"], **(asked.get("parameters") or {})},
            "tags": dict(asked.get("tags") or {}),
            "platformCapabilities": definition.get("platformCapabilities") or [],
            "retryStrategy": {"attempts": 1, "evaluateOnExit": [], **(own["retryStrategy"] or {})},
            **({"timeout": own["timeout"]} if own["timeout"] else {}),
            **extent.fields,
        }
        return Job(
            fields=fields,
            queue_arn=queue["jobQueueArn"],
            node_count=extent.node_count,
            containers=extent.containers,
            instance_types=extent.instance_types,
            since=now,
        )

    def _check_market(self, job: Job, queue: Fields) -> None:
        """Reject a multi-node parallel job if there is only Spot capacity.

        Batch does not run such jobs there; the sandbox rejects them instead of a permanent wait.
        https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
        """
        environments = [
            self.store.environment(each["computeEnvironment"]).resources["type"]
            for each in queue["computeEnvironmentOrder"]
        ]
        if job.is_multinode and "EC2" not in environments:
            refuse(
                "Multi-node parallel jobs are not supported in compute environments that use Spot "
                "Instances."
            )


def _filtered(jobs: Iterable[Job], filters: Sequence[Mapping[str, Any]]) -> list[Job]:
    """Return the jobs that match a filter, in any state, newest first.

    In a name, case is ignored, and a trailing asterisk matches any suffix. A time is in
    milliseconds.
    https://docs.aws.amazon.com/batch/latest/APIReference/API_ListJobs.html, `filters`
    """
    if len(filters) > 1:
        refuse("Only one filter can be used at a time.")
    (condition,) = filters
    wanted = [value.lower() for value in condition["values"]]
    if condition["name"] == "JOB_NAME":
        found = [job for job in jobs if any(_is_of(job, name) for name in wanted)]
    elif condition["name"] == "AFTER_CREATED_AT":
        found = [job for job in jobs if job.fields["createdAt"] > max(map(int, wanted))]
    else:
        refuse(
            f"The sandbox lists jobs by JOB_NAME and AFTER_CREATED_AT, not by {condition['name']}."
        )
    return sorted(found, key=lambda job: job.fields["createdAt"], reverse=True)


def _is_of(job: Job, wanted: str) -> bool:
    name = job.fields["jobName"].lower()
    return name.startswith(wanted[:-1]) if wanted.endswith("*") else name == wanted
