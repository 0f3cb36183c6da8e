"""The jobs of an AWS Batch stack in its queues: what there is, their logs, and how a job is ended.

Source:
    https://docs.aws.amazon.com/batch/latest/APIReference/API_ListJobs.html
    https://docs.aws.amazon.com/batch/latest/APIReference/API_TerminateJob.html: ends a job in any
        state; CancelJob does not end one that starts or runs
    https://docs.aws.amazon.com/batch/latest/APIReference/API_AttemptContainerDetail.html: each
        attempt has a log stream
    https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html: nodes have the
        address `JOB#0` and separate logs
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.cli import console, failures
from trainyard.components.account.call_failures import explained
from trainyard.components.batch.plan import BatchPlan
from trainyard.diagnosis.bundle import Bundle, add_batch
from trainyard.diagnosis.job_log import MOST_LOGS
from trainyard.diagnosis.waiting_job import ENDED, UNFINISHED
from trainyard.jobs.training import PROCESSES
from trainyard.schedulers.batch.job_wait import LOG_GROUP, error_in_nodes
from trainyard.schedulers.batch.submission import short_name
from trainyard.schedulers.job_wait import POLL_SECONDS
from trainyard.schedulers.listed_job import ListedJob, sorted_jobs
from trainyard.schedulers.log_events import LogEvents
from trainyard.schedulers.log_request import LogRequest, newest_of
from trainyard.workspace.target import Target

MOST_NODES = 100
"""DescribeJobs takes as many jobs, and FilterLogEvents as many streams."""


def batch_log(batch: Any, logs: Any, job: ListedJob, asked: LogRequest) -> Iterator[str]:
    """Yield the lines of the wanted nodes; of several, each with the number of its node.

    Args:
        batch: A boto3 client of Batch.
        logs: A boto3 client of CloudWatch Logs.
        job: The job.
        asked: What is wanted.

    Raises:
        WrongUseError: the job has no such node or process, or too many nodes.
        CommandError: there is no previous attempt, or CloudWatch Logs does not answer.
        BotoCoreError, ClientError: Batch does not answer.
    """
    (found,) = batch.describe_jobs(jobs=[job.id])["jobs"]
    nodes = asked.nodes_of(job.nodes or 1, _processes(found))
    if len(nodes) > MOST_NODES:
        raise failures.WrongUseError(f"--all is for {MOST_NODES} nodes at most; use --node")
    multinode = "nodeProperties" in found
    events: dict[str, LogEvents] = {}
    told = False
    while True:
        has_ended = batch.describe_jobs(jobs=[job.id])["jobs"][0]["status"] in ENDED
        streams = _streams(batch, job, nodes, asked, multinode=multinode)
        if not streams and not told:
            told = True
            console.progress(f"{job.id} has no log: its container has not started")
        for stream, node in streams.items():
            narrowed = {"logStreamNames": [stream]}
            log = LogEvents(client=logs, group=LOG_GROUP, narrowed=narrowed)
            for line in _new_lines(events.setdefault(stream, log)):
                yield f"{node}: {line}" if asked.every_node else line
        if has_ended or not asked.follow:
            return
        asked.wait.pause(POLL_SECONDS)


def _new_lines(events: LogEvents) -> list[str]:
    try:
        return [event["message"].rstrip() for event in events.new()]
    except (BotoCoreError, ClientError) as error:
        raise failures.CommandError(explained("logs:FilterLogEvents", error)) from error


def _streams(
    batch: Any, job: ListedJob, nodes: Sequence[int], asked: LogRequest, *, multinode: bool
) -> dict[str, int]:
    """Return the numbers of the nodes by the log streams of the wanted attempt."""
    ids = {f"{job.id}#{node}" if multinode else job.id: node for node in nodes}
    streams: dict[str, int] = {}
    for each in batch.describe_jobs(jobs=[*ids])["jobs"]:
        stream = _stream(each, asked)
        if stream:
            streams[stream] = ids[each["jobId"]]
    return streams


def _stream(job: Mapping[str, Any], asked: LogRequest) -> str | None:
    current = (job.get("container") or {}).get("logStreamName")
    if not asked.previous:
        return current
    attempts = [
        (each.get("container") or {}).get("logStreamName") for each in job.get("attempts") or []
    ]
    before = [each for each in attempts if each and each != current]
    if not before:
        raise failures.CommandError(f"the job {job['jobId']} has no attempt before this one")
    return before[-1]


def _processes(job: Mapping[str, Any]) -> int | None:
    ranges = (job.get("nodeProperties") or {}).get("nodeRangeProperties") or [job]
    variables = (ranges[0].get("container") or {}).get("environment") or []
    found = [each["value"] for each in variables if each["name"] == PROCESSES]
    return int(found[0]) if found else None


def diagnose(bundle: Bundle, plan: BatchPlan, target: Target) -> None:
    """Add the compute environments, the queues and their jobs, and the errors in the logs of these.

    Args:
        bundle: What is written.
        plan: Plan of the stack.
        target: The stack and its account.
    """
    batch, logs = target.client("batch"), target.client("logs")
    failed = add_batch(bundle, batch, cluster=plan.name, queues=plan.queue_names)
    newest = sorted(failed, key=lambda each: each.get("stoppedAt", 0), reverse=True)[:MOST_LOGS]

    def errors() -> dict[str, str]:
        found = {each["jobId"]: error_in_nodes(batch, logs, each) for each in newest}
        for job, error in found.items():
            bundle.blame_log(f"job {job}", error)
        return {job: error.heading for job, error in found.items() if error}

    if newest:
        bundle.add("jobs/errors-in-logs.json", errors)


_MOST_JOBS = 100
"""Jobs of one queue and state that are listed, the newest."""


@contextmanager
def batch_jobs(plan: BatchPlan, target: Target) -> Iterator[BatchJobs]:
    """Give the jobs of a stack.

    Raises:
        WrongUseError: there are no credentials.
        CommandError: AWS refuses a request or does not respond.
    """
    with target.access():
        try:
            batch, logs = target.client("batch"), target.client("logs")
            yield BatchJobs(batch, logs, plan.queue_names)
        except (BotoCoreError, ClientError) as error:
            raise failures.CommandError(explained("batch:ListJobs", error)) from error


@dataclass(frozen=True, slots=True)
class BatchJobs:
    """The jobs in the queues of a stack."""

    batch: Any
    """A boto3 client."""
    logs: Any
    """A boto3 client of CloudWatch Logs."""
    queues: Sequence[str]

    def jobs(self) -> list[ListedJob]:
        """Return the jobs of all states; Batch keeps those that have ended for some days."""
        pages = self.batch.get_paginator("list_jobs")
        return sorted_jobs(
            [
                _listed(each)
                for queue in self.queues
                for state in (*UNFINISHED, *ENDED)
                for page in pages.paginate(
                    jobQueue=queue, jobStatus=state, PaginationConfig={"MaxItems": _MOST_JOBS}
                )
                for each in page["jobSummaryList"]
            ]
        )

    def log(self, asked: LogRequest) -> Iterator[str]:
        """Yield the lines of the log streams of its nodes."""
        return batch_log(self.batch, self.logs, newest_of(asked.job, self.jobs()), asked)

    def cancel(self, job: ListedJob) -> None:
        """Terminate a job and all of its nodes."""
        self.batch.terminate_job(jobId=job.id, reason="cancelled with trainyard")


def _listed(job: dict[str, Any]) -> ListedJob:
    return ListedJob(
        id=job["jobId"],
        name=job["jobName"],
        short_name=short_name(job["jobName"]),
        state=job["status"],
        nodes=(job.get("nodeProperties") or {}).get("numNodes", 1),
        started=_time(job.get("startedAt")),
        ended=_time(job.get("stoppedAt")),
        has_ended=job["status"] in ENDED,
    )


def _time(milliseconds: int | None) -> datetime | None:
    return datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds else None
