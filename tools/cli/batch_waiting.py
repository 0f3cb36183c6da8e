"""`job --submit --wait`: follows a job of AWS Batch, and says why it does not start."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tools.cli import console, failures
from tools.diagnosis.waiting_job import WAITING

POLL_SECONDS = 5
START_LIMIT_MINUTES = 30.0
"""How long a job may wait for its nodes where the user does not say it."""
QUIET_SECONDS = 60.0
"""How long a job may wait before the account is asked why, where Batch itself says nothing."""
_ENDED = ("SUCCEEDED", "FAILED")

Explain = Callable[[Mapping[str, Any]], list[str]]


@dataclass(frozen=True, slots=True)
class JobWait:
    """How a job is waited for."""

    start_limit_minutes: float = START_LIMIT_MINUTES
    """Until it has to run; what runs is ended by the time limit of its job definition."""
    pause: Callable[[float], object] = time.sleep
    """Passes so many seconds between two looks."""
    now: Callable[[], float] = time.monotonic
    """Seconds on a clock that never goes back."""


def wait_for(batch: Any, job_id: str, explain: Explain, wait: JobWait | None = None) -> None:
    """Report the states of a job until it has ended, and why it waits while it does.

    Args:
        batch: A boto3 client.
        job_id: The job's.
        explain: Returns why a job, as DescribeJobs gives it, does not start.
        wait: How long, and by which clock; the default where it is None.

    Raises:
        CommandError: the job failed, or did not start within the limit, or AWS answers no more; in
            the last two cases the job goes on without us.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        _wait(batch, job_id, explain, wait or JobWait())
    except (BotoCoreError, ClientError) as error:
        raise failures.CommandError(
            f"AWS does not say any more how the job {job_id} does, which goes on: {error}"
        ) from error


def _wait(batch: Any, job_id: str, explain: Explain, wait: JobWait) -> None:
    began, seen, told = wait.now(), "", None
    while True:
        (job,) = batch.describe_jobs(jobs=[job_id])["jobs"]
        waited = wait.now() - began
        if job["status"] != seen:
            seen = job["status"]
            console.progress(f"{job_id} is {seen}")
        if seen in _ENDED:
            break
        if seen in WAITING:
            reason = job.get("statusReason") or ""
            if reason != told and (reason or waited >= QUIET_SECONDS):
                told = reason
                _tell(job, explain(job))
            if waited >= wait.start_limit_minutes * 60:
                raise failures.CommandError(_gave_up(job, explain(job), wait))
        wait.pause(POLL_SECONDS)
    if seen == "FAILED":
        reason = job.get("statusReason")
        raise failures.CommandError(f"the job {job_id} failed: {reason or 'its log says why'}")


def _tell(job: Mapping[str, Any], why: list[str]) -> None:
    console.progress("\n  ".join([f"{job['jobId']} does not start yet", *_said(job), *why]))


def _said(job: Mapping[str, Any]) -> list[str]:
    reason = job.get("statusReason")
    return [f"Batch says: {reason}"] if reason else []


def _gave_up(job: Mapping[str, Any], why: list[str], wait: JobWait) -> str:
    return "\n  ".join(
        [
            (
                f"after {wait.start_limit_minutes:g} minutes the job {job['jobId']} is still "
                f"{job['status']}; it waits on until it starts or is terminated"
            ),
            *_said(job),
            *why,
            "wait longer with --wait-minutes",
        ]
    )
