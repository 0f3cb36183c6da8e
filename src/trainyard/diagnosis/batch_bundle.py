"""The parts of a bundle about the compute environments and queues of AWS Batch.

Source:
    https://docs.aws.amazon.com/batch/latest/APIReference/API_ComputeEnvironmentDetail.html
    https://docs.aws.amazon.com/batch/latest/userguide/job_stuck_in_runnable.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trainyard.components.batch.account import environments_of
from trainyard.diagnosis.bundle import Bundle

_STATES = ("RUNNABLE", "STARTING", "RUNNING", "FAILED")
_MOST_JOBS = 20


def add_batch(bundle: Bundle, batch: Any, *, cluster: str, queues: Sequence[str]) -> None:
    """Add the compute environments and queues of a stack, and their newest jobs.

    Args:
        bundle: The bundle.
        batch: A boto3 client.
        cluster: Name of the cluster, which is a tag of its compute environments.
        queues: Names of the job queues.
    """
    found = bundle.add("compute-environments.json", lambda: _environments(batch, cluster))
    bundle.blame(
        f"compute environment {each['computeEnvironmentName']} is {each['status']}: "
        f"{each.get('statusReason', '')}"
        for each in found or []
        if each["status"] != "VALID"
    )
    bundle.blame(
        f"compute environment {each['computeEnvironmentName']} is disabled"
        for each in found or []
        if each["state"] != "ENABLED"
    )
    bundle.add(
        "job-queues.json",
        lambda: batch.describe_job_queues(jobQueues=[*queues])["jobQueues"],
    )
    for queue in queues:
        for state in _STATES:
            _add_jobs(bundle, batch, queue, state)


def _environments(batch: Any, cluster: str) -> list[dict[str, Any]]:
    pages = batch.get_paginator("describe_compute_environments").paginate()
    return [dict(each) for each in environments_of(cluster, pages)]


def _add_jobs(bundle: Bundle, batch: Any, queue: str, state: str) -> None:
    def read() -> list[dict[str, Any]]:
        listed = batch.list_jobs(jobQueue=queue, jobStatus=state, maxResults=_MOST_JOBS)
        ids = [each["jobId"] for each in listed["jobSummaryList"]]
        return batch.describe_jobs(jobs=ids)["jobs"] if ids else []

    found = bundle.add(f"jobs/{queue}-{state.lower()}.json", read)
    bundle.blame(
        f"job {each['jobId']} ({each['jobName']}) is {state}: {each.get('statusReason')}"
        for each in found or []
        if each.get("statusReason") and state in ("RUNNABLE", "FAILED")
    )
