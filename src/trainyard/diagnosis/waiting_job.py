"""Why an AWS Batch job waits, and what lets it start.

Batch reports a reason in `statusReason` of the job at the head of its queue. Source of the reasons:
https://docs.aws.amazon.com/batch/latest/userguide/job_stuck_in_runnable.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.components.capacity.schedule import leave_of_any_type
from trainyard.diagnosis.failed_pool import ReservationUse, read_reservations
from trainyard.diagnosis.known_errors import known_error

WAITING = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING")
"""States of a job that is not running yet.
https://docs.aws.amazon.com/batch/latest/userguide/job_states.html"""
UNFINISHED = (*WAITING, "RUNNING")
"""States of a job that has not ended, in order."""
ENDED = ("SUCCEEDED", "FAILED")
"""States of a job that has ended."""
_AHEAD = ("RUNNABLE", "STARTING", "RUNNING")
"""States of jobs that hold nodes or are at the head of the queue."""

CLOSED = f"in a Capacity Block, jobs start from its start until {leave_of_any_type()}"
"""What a disabled compute environment most likely means."""

REMEDIES: Mapping[str, str] = {
    "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE": (
        "increase `maximum` of architecture.compute_environments.{environment}, or request fewer "
        "nodes with --nodes"
    ),
    "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT": (
        "no node of compute environment {environment} has the resources that the job's containers "
        "request: reduce vcpus, memory_mib or accelerators of the job definition"
    ),
    "MISCONFIGURATION:SERVICE_ROLE_PERMISSIONS": (
        "Batch has no permissions in this account: create its service-linked role, `aws iam "
        "create-service-linked-role --aws-service-name batch.amazonaws.com`"
    ),
    "MISCONFIGURATION:EC2_INSTANCE_CONFIGURATION_UNSUPPORTED": (
        "EC2 rejects the launch template of compute environment {environment} for these "
        "instances: check its AMI and instance type"
    ),
}
"""Advice by the code at the start of Batch's reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedJob:
    """A waiting job, with the state of its queue and its nodes."""

    reason: str
    """`statusReason` of the job; empty if Batch reports none."""
    environment: str
    """Stack file entry of its compute environment."""
    stack: str
    """Cluster name of the stack, a tag of its instances."""
    environment_problem: str
    """Why the compute environment accepts no jobs; empty if it does."""
    ahead: tuple[str, ...]
    """Other jobs of the queue that are running or were submitted earlier, with their states."""
    reservations: tuple[ReservationUse, ...]


def read_queued_job(
    batch: Any,
    ec2: Any,
    job: Mapping[str, Any],
    *,
    environment: str,
    stack: str,
    reservation_ids: Sequence[str],
) -> QueuedJob:
    """Read everything from the account that a waiting job depends on.

    Args:
        batch: A boto3 Batch client.
        ec2: A boto3 EC2 client.
        job: The job as DescribeJobs returns it.
        environment: Stack file entry of its compute environment.
        stack: Cluster name of the stack.
        reservation_ids: Capacity reservations that the environment launches into.

    Raises:
        botocore.exceptions.ClientError: AWS rejected a request.
    """
    queues = batch.describe_job_queues(jobQueues=[job["jobQueue"]])["jobQueues"]
    # Take the names from the queue, because names of compute environments have a random suffix.
    arns = [each["computeEnvironment"] for q in queues for each in q["computeEnvironmentOrder"]]
    found = batch.describe_compute_environments(computeEnvironments=arns)["computeEnvironments"]
    return QueuedJob(
        reason=job.get("statusReason") or "",
        environment=environment,
        stack=stack,
        environment_problem=_environment_problem(found),
        ahead=_ahead(batch, job),
        reservations=read_reservations(ec2, reservation_ids),
    )


def why_it_waits(job: QueuedJob) -> list[str]:
    """Return why a job waits and what helps, most certain cause first; never empty."""
    found = [job.environment_problem] if job.environment_problem else []
    code = job.reason.partition(" ")[0]
    if code in REMEDIES:
        found.append(REMEDIES[code].format(environment=job.environment))
    found += [
        f"reservation {each.described()}"
        for each in job.reservations
        if each.state != "active" or each.available < 1
    ]
    if job.ahead:
        found.append(f"before it in the queue: {', '.join(job.ahead)}")
    own = [i for each in job.reservations for i in each.holders.get(job.stack, ())]
    if own and not job.ahead and not found[:-1]:
        found.append(
            f"its nodes are running ({', '.join(own)}) but accept no job: they have not registered "
            "with ECS. Most likely causes first: no route to the endpoints of ECS and ECR, a role "
            "without AmazonEC2ContainerServiceforEC2Role, user data that fails"
        )
    if not found:
        found.append(
            "no cause found: nodes of large instance types take up to ten minutes to start"
        )
    known = known_error(job.reason, "batch")
    return [*found, *([known.more] if known else [])]


def _environment_problem(found: Sequence[Mapping[str, Any]]) -> str:
    if not found:
        return "its compute environment no longer exists"
    enabled = [each for each in found if each["state"] == "ENABLED"]
    if not enabled:
        names = ", ".join(each["computeEnvironmentName"] for each in found)
        return f"disabled compute environment: {names}; {CLOSED}"
    if any(each["status"] == "VALID" for each in enabled):
        return ""
    name, status = enabled[0]["computeEnvironmentName"], enabled[0]["status"]
    return f"compute environment {name} is {status}: {enabled[0].get('statusReason', '')}"


def _ahead(batch: Any, job: Mapping[str, Any]) -> tuple[str, ...]:
    others = [
        each
        for status in _AHEAD
        for each in batch.list_jobs(jobQueue=job["jobQueue"], jobStatus=status)["jobSummaryList"]
        if each["jobId"] != job["jobId"]
    ]
    created = job.get("createdAt", 0)
    return tuple(
        f"{each['jobName']} {each['jobId']} ({each['status']})"
        for each in others
        if each["status"] != "RUNNABLE" or each.get("createdAt", 0) <= created
    )
