"""SubmitJob, DescribeJobs, ListJobs, CancelJob, TerminateJob.

https://docs.aws.amazon.com/batch/latest/APIReference/API_SubmitJob.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from moto.core.responses import ActionResult, EmptyResult
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.batch.attempts import end_attempt, milliseconds
from trainyard.sandbox.aws.batch.definition_checks import check_container
from trainyard.sandbox.aws.batch.environment_checks import check_name
from trainyard.sandbox.aws.batch.errors import only, refuse
from trainyard.sandbox.aws.batch.job_requests import job_nodes, one_container
from trainyard.sandbox.aws.batch.queues import QueueCalls
from trainyard.sandbox.aws.batch.runs import described_node
from trainyard.sandbox.aws.batch.scheduler import tick
from trainyard.sandbox.aws.batch.store import WAITING, Fields, Job
from trainyard.sandbox.aws.clock import CLOCK

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
