"""`logs STACK JOB` for AWS Batch: the log streams of the nodes of a job.

Source:
    https://docs.aws.amazon.com/batch/latest/APIReference/API_AttemptContainerDetail.html: each
        attempt has a log stream
    https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html: nodes have the
        address `JOB#0` and separate logs
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.cli import console, failures
from trainyard.components.account.call_failures import explained
from trainyard.diagnosis.waiting_job import ENDED
from trainyard.jobs.training import PROCESSES
from trainyard.schedulers.batch.submission import LOG_GROUP
from trainyard.schedulers.job_wait import POLL_SECONDS
from trainyard.schedulers.listed_job import ListedJob
from trainyard.schedulers.log_events import LogEvents
from trainyard.schedulers.log_request import LogRequest

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
