"""Attempts of a job: their start and end."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sandbox.aws.batch.containers import start_failure
from sandbox.aws.batch.nodes import is_running
from sandbox.aws.batch.retries import is_retried
from sandbox.aws.batch.store import ENDED, BatchStore, Job
from sandbox.aws.clock import CLOCK


def milliseconds(moment: datetime) -> int:
    """Return a time in Batch's form: milliseconds since 1970."""
    return int(moment.timestamp() * 1000)


def start(job: Job) -> None:
    """Start the containers of a job on its nodes, or end the attempt if one does not start."""
    now = CLOCK.now()
    for container in job.containers:
        failure = start_failure(container, job.nodes[0])
        if failure:
            end_attempt(job, exit_code=None, reason=failure)
            return
    job.fields.update(status="RUNNING", startedAt=milliseconds(now))
    job.since = now


def end_attempt(job: Job, *, exit_code: int | None, reason: str, final: bool = False) -> None:
    """End the attempt of a job, release its nodes, and requeue it if it may be retried.

    Args:
        job: The job.
        exit_code: Exit code of its containers; None if they did not start, or were stopped.
        reason: Why it ended.
        final: Whether the job ends regardless of remaining attempts.
    """
    now = CLOCK.now()
    _record(job, now, exit_code, reason)
    for node in job.nodes:
        node.jobs.discard(job.identifier)
        node.idle_since = node.idle_since if node.jobs else now
    job.nodes, job.environment, job.since = [], None, now
    good = exit_code == 0
    strategy, so_far = job.fields["retryStrategy"], len(job.fields["attempts"])
    again = is_retried(strategy, so_far, exit_code=exit_code, reason=reason)
    if not good and not final and again:
        job.fields["status"] = "RUNNABLE"
        job.fields.pop("startedAt", None)
        return
    status = "SUCCEEDED" if good else "FAILED"
    job.fields.update(status=status, statusReason=reason, stoppedAt=milliseconds(now))


def fail_lost_jobs(store: BatchStore) -> None:
    """End the attempts of jobs on instances that EC2 has terminated."""
    for job in store.jobs.values():
        lost = [node for node in job.nodes if not is_running(node)]
        if lost and job.status not in ENDED:
            instance = lost[0].instance.id
            end_attempt(job, exit_code=None, reason=f"Host EC2 (instance {instance}) terminated.")


def _record(job: Job, now: datetime, exit_code: int | None, reason: str) -> None:
    container: dict[str, Any] = {"reason": reason} if exit_code is None else {"exitCode": exit_code}
    started = job.fields.get("startedAt")
    job.fields["attempts"].append(
        {
            "container": container,
            **({"startedAt": started} if started else {}),
            "stoppedAt": milliseconds(now),
            "statusReason": reason,
        }
    )
    if not job.is_multinode:
        job.fields["container"].update(container)
