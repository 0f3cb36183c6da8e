"""Waiting for a Batch job: follows it, explains why it does not start, and prints its log.

Source: https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html: nodes have
the address `JOB#0` and separate logs
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.cli import console, failures
from trainyard.components.account.call_failures import explained, is_transient
from trainyard.diagnosis.job_log import MOST_LOGS, LogEnd, sections
from trainyard.diagnosis.known_errors import KnownError
from trainyard.diagnosis.waiting_job import ENDED, WAITING
from trainyard.jobs.batch_request import BatchSubmission
from trainyard.schedulers.job_wait import QUIET_SECONDS, JobWait, look_again
from trainyard.schedulers.log_events import LogEvents
from trainyard.workspace.target import Target

LOG_GROUP = "/aws/batch/job"
"""Log group of Batch jobs.
https://docs.aws.amazon.com/batch/latest/userguide/using_awslogs.html"""

Explain = Callable[[Mapping[str, Any]], list[str]]

_MOST_NODES = 100
"""DescribeJobs takes as many jobs."""
_OUT_OF_TIME = "Job attempt duration exceeded timeout"
"""Status reason of a job that Batch has ended at its timeout.
`BATCH_JOB_TIMEOUT_ERROR` in https://github.com/insitro/redun, redun/executors/aws_batch.py"""


class PrintLog(Protocol):
    """Prints the new lines of the log of a job that runs or has ended."""

    def __call__(self, batch: Any, job_id: str, *, has_ended: bool) -> None:
        """Print the lines that were not printed yet."""
        ...


FindError = Callable[[Any, Mapping[str, Any]], KnownError | None]
"""Returns the error in the logs of a job that has failed; takes a client of Batch and the job."""


def _no_error(_batch: Any, _job: Mapping[str, Any]) -> None:
    return None


def wait_for(
    batch: Any,
    job_id: str,
    explain: Explain,
    wait: JobWait,
    print_log: PrintLog,
    *,
    find_error: FindError = _no_error,
) -> None:
    """Report the states of a job until it ends, why it waits, and its log.

    Args:
        batch: A boto3 client.
        job_id: Id of the job.
        explain: Returns why a job, as DescribeJobs returns it, does not start.
        wait: Limits and clock.
        print_log: Prints the log, while the job runs and at its end.
        find_error: Returns the error in the logs of the job if that has failed.

    Raises:
        JobFailedError: the job failed.
        CommandError: it did not start within the limit, or AWS stopped responding; the job
            continues.
    """
    try:
        job = _ended(batch, job_id, explain, wait, print_log)
    except (BotoCoreError, ClientError) as error:
        raise failures.CommandError(
            f"the state of the job {job_id} can no longer be read; the job continues: {error}"
        ) from error
    if job["status"] == "FAILED":
        reason = job.get("statusReason")
        said = f"the job {job_id} failed: {reason or 'see its log'}"
        more = sections(reasons_of(job), "batch", find_error(batch, job))
        raise failures.JobFailedError("\n  ".join([said, *more]), _exit_code(job))


def _ended(
    batch: Any, job_id: str, explain: Explain, wait: JobWait, print_log: PrintLog
) -> Mapping[str, Any]:
    began, seen, told = wait.now(), "", None
    while True:
        (job,) = look_again(lambda: batch.describe_jobs(jobs=[job_id])["jobs"], wait, _transient)
        waited = wait.now() - began
        if job["status"] != seen:
            seen = job["status"]
            console.progress(f"{job_id} is {seen}")
        if seen in ENDED:
            break
        if seen == "RUNNING":
            print_log(batch, job_id, has_ended=False)
        if seen in WAITING:
            told = _tell_reason(job, told, waited, explain)
            if waited >= wait.start_limit_minutes * 60:
                raise failures.CommandError(_gave_up(job, explain(job), wait))
        wait.pause(wait.poll_seconds)
    print_log(batch, job_id, has_ended=True)
    return job


def reasons_of(job: Mapping[str, Any]) -> str:
    """Return why a job has failed, in the words of Batch and of ECS.

    https://docs.aws.amazon.com/batch/latest/APIReference/API_AttemptDetail.html
    """
    last = (job.get("attempts") or [{}])[-1]
    said = [
        job.get("statusReason"),
        (job.get("container") or {}).get("reason"),
        last.get("statusReason"),
        (last.get("container") or {}).get("reason"),
    ]
    return "\n".join(each for each in said if each)


def _exit_code(job: Mapping[str, Any]) -> int | None:
    """Return the exit code of the last attempt; that of the main node for several nodes.

    https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html
    """
    if str(job.get("statusReason") or "").startswith(_OUT_OF_TIME):
        return failures.TIMED_OUT
    attempts = job.get("attempts") or [job]
    return (attempts[-1].get("container") or {}).get("exitCode")


def _tell_reason(
    job: Mapping[str, Any], told: str | None, waited: float, explain: Explain
) -> str | None:
    """Report why a job waits if that is new; return what was reported last."""
    reason = job.get("statusReason") or ""
    if reason == told or not (reason or waited >= QUIET_SECONDS):
        return told
    _tell(job, explain(job))
    return reason


def _transient(error: Exception) -> str:
    return (
        str(error) if isinstance(error, BotoCoreError | ClientError) and is_transient(error) else ""
    )


def _tell(job: Mapping[str, Any], why: list[str]) -> None:
    console.progress("\n  ".join([f"{job['jobId']} has not started yet", *_said(job), *why]))


def _said(job: Mapping[str, Any]) -> list[str]:
    reason = job.get("statusReason")
    return [f"Batch says: {reason}"] if reason else []


def _gave_up(job: Mapping[str, Any], why: list[str], wait: JobWait) -> str:
    return "\n  ".join(
        [
            (
                f"after {wait.start_limit_minutes:g} minutes the job {job['jobId']} is still "
                f"{job['status']}; it stays in the queue until it starts or is terminated"
            ),
            *_said(job),
            *why,
            "wait longer with --wait-minutes",
        ]
    )


@dataclass(slots=True)
class MainLog:
    """The log of the main node, which has the result; it is printed as it grows."""

    target: Target
    submission: BatchSubmission
    show: Callable[[str], object]
    events: dict[str, LogEvents] = field(default_factory=dict[str, LogEvents])
    """What was printed, by log stream; each attempt has one."""
    has_printed: bool = False
    end: LogEnd = field(default_factory=LogEnd)

    def __call__(self, batch: Any, job_id: str, *, has_ended: bool) -> None:
        """Print the new lines; while the job runs, its stream may not exist yet."""
        try:
            (main,) = batch.describe_jobs(jobs=[main_node(job_id, self.submission)])["jobs"]
            stream = (main.get("container") or {}).get("logStreamName")
            if stream:
                self._print(stream)
            elif has_ended:
                console.progress("the job has no log: its container did not start")
        except (BotoCoreError, ClientError) as error:
            if has_ended:
                console.progress(explained("logs:FilterLogEvents", error))

    def _print(self, stream: str) -> None:
        if stream not in self.events:
            client = self._client()
            narrowed = {"logStreamNames": [stream]}
            self.events[stream] = LogEvents(client=client, group=LOG_GROUP, narrowed=narrowed)
        for event in self.events[stream].new():
            self.has_printed = True
            self.end.add(event["message"])
            self.show(event["message"].rstrip())

    def error_of(self, batch: Any, job: Mapping[str, Any]) -> KnownError | None:
        """Return the error in the log that was printed, or else in those of the other nodes."""
        if self.end.error or not self.submission.multinode:
            return self.end.error
        try:
            return error_in_nodes(batch, self._client(), job)
        except (BotoCoreError, ClientError):
            # The job has failed, which is what is to be said.
            return None

    def _client(self) -> Any:
        return self.target.client("logs")


def error_in_nodes(batch: Any, logs: Any, job: Mapping[str, Any]) -> KnownError | None:
    """Return the error in the logs of the nodes of a job that have failed.

    Args:
        batch: A boto3 client of Batch.
        logs: A boto3 client of CloudWatch Logs.
        job: The job, as DescribeJobs returns it.

    Raises:
        BotoCoreError, ClientError: AWS does not answer.
    """
    count = (job.get("nodeProperties") or {}).get("numNodes", 0)
    ids = [f"{job['jobId']}#{node}" for node in range(min(count, _MOST_NODES))]
    found = batch.describe_jobs(jobs=ids)["jobs"] if ids else [job]
    containers = [each.get("container") or {} for each in found]
    failed = [each for each in containers if each.get("exitCode") and each.get("logStreamName")]
    end = LogEnd()
    for container in (failed or containers)[:MOST_LOGS]:
        if stream := container.get("logStreamName"):
            narrowed = {"logStreamNames": [stream]}
            for event in LogEvents(client=logs, group=LOG_GROUP, narrowed=narrowed).new():
                end.add(event["message"])
            if end.error:
                break
    return end.error


def main_node(job_id: str, submission: BatchSubmission) -> str:
    """Return the id of the main node of a job, which has a log of its own."""
    return f"{job_id}#0" if submission.multinode else job_id
