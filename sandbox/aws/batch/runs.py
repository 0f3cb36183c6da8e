"""The containers of a job while they run, one on each node, according to the schedule of faults.

The main node, or the only one, decides about a job. Batch takes no action if a child node dies, and
stops the child nodes when the main node has ended.
https://docs.aws.amazon.com/batch/latest/userguide/job-lifecycle.html
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from moto.logs.models import LogsBackend, logs_backends
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.batch.store import BatchStore, Job, Run
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.faults.containers import (
    SIGTERM_EXIT_CODE,
    Course,
    StartedContainer,
    course_of,
)
from trainyard.sandbox.faults.in_force import FAULTS

EXITED = "Essential container in task exited"
"""https://docs.aws.amazon.com/batch/latest/userguide/troubleshooting.html and
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/stopped-task-error-codes.html"""
LOG_GROUP = "/aws/batch/job"
"""https://docs.aws.amazon.com/batch/latest/userguide/using_awslogs.html"""

_USUAL = Course(ends_after=timedelta(seconds=3))
"""What a container does that the schedule does not mention."""


def host_terminated(instance_id: str) -> str:
    """Return the status reason of a job whose instance was terminated.

    https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html
    """
    return f"Host EC2 (instance {instance_id}) terminated."


def start_runs(store: BatchStore, job: Job) -> None:
    """Start a container on each node of a job."""
    job.runs = []
    for index in range(job.node_count):
        started = StartedContainer(
            job=job.fields["jobName"], index=index, labels=job.fields["tags"]
        )
        course = course_of(FAULTS, started) or _USUAL
        definition = job.fields["jobDefinition"].rpartition("/")[2].rpartition(":")[0]
        stream = f"{definition}/default/{mock_random.get_random_hex(32)}"
        job.runs.append(Run(course=course, log_stream=stream, started=CLOCK.now()))
        _write(store, stream, course.lines)
    if not job.is_multinode:
        job.fields["container"]["logStreamName"] = job.runs[0].log_stream


def end_runs(store: BatchStore, job: Job) -> None:
    """Stop the containers of a job that still run; they get SIGTERM."""
    for run in job.runs:
        if run.exit_code is None and not run.reason:
            _write(store, run.log_stream, run.course.stop_lines)
            run.exit_code, run.reason = SIGTERM_EXIT_CODE, EXITED


def go_on(ec2: Any, job: Job) -> None:
    """End the containers of a running job that are due, and terminate lost nodes."""
    now = CLOCK.now()
    for run, node in zip(job.runs, job.nodes, strict=True):
        if run.exit_code is not None or run.reason:
            continue
        lost_after, ends_after = run.course.node_lost_after, run.course.ends_after
        if lost_after is not None and now >= run.started + lost_after:
            ec2.terminate_instances([node.instance.id])
            run.reason = host_terminated(node.instance.id)
        elif ends_after is not None and now >= run.started + ends_after:
            run.exit_code, run.reason = run.course.exit_code, EXITED


def described_node(job: Job, index: int) -> dict[str, Any] | None:
    """Return the description of a node of a multi-node parallel job; None if it has no such node.

    https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html: `#N` after the
    id of the job
    """
    if not job.is_multinode or index >= job.node_count:
        return None
    fields = {key: value for key, value in job.fields.items() if key != "nodeProperties"}
    container: dict[str, Any] = dict(_container_of(job, index))
    run = job.runs[index] if job.runs else None
    if run is not None:
        container["logStreamName"] = run.log_stream
        if run.exit_code is not None:
            container["exitCode"] = run.exit_code
            fields["status"] = "FAILED" if run.exit_code else "SUCCEEDED"
        if run.reason:
            fields["statusReason"] = container["reason"] = run.reason
    return {
        **fields,
        "jobId": f"{job.identifier}#{index}",
        "jobArn": f"{job.fields['jobArn']}#{index}",
        "container": container,
        "nodeDetails": {"nodeIndex": index, "isMainNode": index == 0},
    }


def _container_of(job: Job, index: int) -> Mapping[str, Any]:
    """Return the container of a node: that of the range with the index."""
    for each in job.fields["nodeProperties"]["nodeRangeProperties"]:
        first, _, last = each["targetNodes"].partition(":")
        if int(first or 0) <= index <= int(last or job.node_count):
            return each["container"]
    raise AssertionError(f"no range of the job has node {index}")


def _write(store: BatchStore, stream: str, lines: tuple[str, ...]) -> None:
    """Write the log of a container, as the awslogs driver of the ECS agent does.

    In real time, because CloudWatch Logs refuses events in the future.
    """
    logs: LogsBackend = logs_backends[store.account_id][store.region_name]
    if LOG_GROUP not in logs.groups:
        logs.create_log_group(LOG_GROUP, {})
    if stream not in logs.groups[LOG_GROUP].streams:
        logs.create_log_stream(LOG_GROUP, stream)
    now = int(datetime.now(UTC).timestamp() * 1000)
    if lines:
        events = [{"timestamp": now, "message": line} for line in lines]
        logs.put_log_events(LOG_GROUP, stream, events)
