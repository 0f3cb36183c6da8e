"""Attempts of a job: their start and end."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from trainyard.sandbox.aws.batch.containers import start_failure
from trainyard.sandbox.aws.batch.nodes import is_running
from trainyard.sandbox.aws.batch.retries import is_retried
from trainyard.sandbox.aws.batch.runs import end_runs, host_terminated, start_runs
from trainyard.sandbox.aws.batch.store import ENDED, BatchStore, Job
from trainyard.sandbox.aws.clock import CLOCK


def milliseconds(moment: datetime) -> int:
    """Return a time in Batch's form: milliseconds since 1970."""
    return int(moment.timestamp() * 1000)


def start(store: BatchStore, job: Job) -> None:
    """Start the containers of a job on its nodes, or end the attempt if one does not start."""
    now = CLOCK.now()
    for container in job.containers:
        failure = start_failure(container, job.nodes[0])
        if failure:
            end_attempt(store, job, exit_code=None, reason=failure)
            return
    start_runs(store, job)
    job.fields.update(status="RUNNING", startedAt=milliseconds(now))
    job.since = now


def end_attempt(
    store: BatchStore, job: Job, *, exit_code: int | None, reason: str, final: bool = False
) -> None:
    """End the attempt of a job, release its nodes, and requeue it if it may be retried.

    Args:
        store: All objects of Batch.
        job: The job.
        exit_code: Exit code of its containers; None if they did not start, or were stopped.
        reason: Why it ended.
        final: Whether the job ends regardless of remaining attempts.
    """
    now = CLOCK.now()
    end_runs(store, job)
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
    """End the attempts of jobs whose main node, or only one, EC2 has terminated.

    Batch takes no action if a child node dies:
    https://docs.aws.amazon.com/batch/latest/userguide/job-lifecycle.html
    """
    for job in store.jobs.values():
        main = next(iter(job.nodes), None)
        if main is not None and job.status not in ENDED and not is_running(main):
            reason = host_terminated(main.instance.id)
            end_attempt(store, job, exit_code=None, reason=reason)


def _record(job: Job, now: datetime, exit_code: int | None, reason: str) -> None:
    container: dict[str, Any] = {"reason": reason} if exit_code is None else {"exitCode": exit_code}
    if job.runs:
        container["logStreamName"] = job.runs[0].log_stream
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
