"""State transitions of jobs, and the start and end of their nodes.

Nodes start when a job waits and end some seconds after the last job; AWS takes minutes for both.
The oldest job of a queue that cannot be placed blocks the others, as in AWS:
https://docs.aws.amazon.com/batch/latest/userguide/job_stuck_in_runnable.html
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from moto.core.exceptions import ServiceException

from trainyard.sandbox.aws.batch.attempts import end_attempt, fail_lost_jobs, start
from trainyard.sandbox.aws.batch.containers import largest, size_of_type, together
from trainyard.sandbox.aws.batch.nodes import desired_vcpus, is_running, launch, terminate, vcpus_of
from trainyard.sandbox.aws.batch.runs import go_on
from trainyard.sandbox.aws.batch.store import BatchStore, ComputeEnvironment, Fields, Job, Node
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.errors import code_and_message
from trainyard.sandbox.faults.clusters import never_joins
from trainyard.sandbox.faults.in_force import FAULTS

STARTING = timedelta(seconds=1)
"""Time between the assignment of a job's node and the start of its container."""
IDLE = timedelta(seconds=5)
"""Time for which a node without a job is kept."""
RETRY_INTERVAL = timedelta(seconds=10)
"""Time between two launch attempts of an environment, as in the sandbox's Auto Scaling."""

_NO_ROOM = "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE - "
_NO_TYPE = "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - "
_NO_CAPACITY = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - "
"""https://docs.aws.amazon.com/batch/latest/userguide/job_stuck_in_runnable.html"""


def tick(store: BatchStore, ec2: Any) -> None:
    """Perform everything that is due."""
    fail_lost_jobs(store)
    for job in store.jobs.values():
        _move_on(store, ec2, job)
    for queue in sorted(store.queues.values(), key=lambda each: -each["priority"]):
        _place_jobs(store, ec2, queue)
    for environment in store.environments.values():
        _scale_in(ec2, environment)
        keep_minimum(ec2, environment)


def keep_minimum(ec2: Any, environment: ComputeEnvironment) -> None:
    """Launch the nodes that an environment keeps without jobs."""
    resources = environment.resources
    while environment.takes_jobs and desired_vcpus(environment) < resources["minvCpus"]:
        if not _launched(ec2, environment, resources["instanceTypes"][0], 1):
            return


def end_jobs(store: BatchStore, environment: ComputeEnvironment, reason: str) -> None:
    """End the attempts of all jobs in an environment; jobs with further attempts are requeued."""
    for job in store.jobs.values():
        if job.environment is environment:
            end_attempt(store, job, exit_code=None, reason=reason)


def _move_on(store: BatchStore, ec2: Any, job: Job) -> None:
    if job.status == "STARTING" and CLOCK.now() - job.since >= STARTING:
        start(store, job)
    elif job.status == "RUNNING":
        go_on(ec2, job)
        main = job.runs[0]
        if main.reason:
            end_attempt(store, job, exit_code=main.exit_code, reason=main.reason)


def _place_jobs(store: BatchStore, ec2: Any, queue: Fields) -> None:
    waiting = [job for job in store.jobs_of(queue["jobQueueArn"]) if job.status == "RUNNABLE"]
    for job in waiting:
        reasons = [
            _place(store, ec2, job, store.environment(each["computeEnvironment"]))
            for each in sorted(queue["computeEnvironmentOrder"], key=lambda each: each["order"])
            if job.status == "RUNNABLE"
        ]
        if job.status == "RUNNABLE":
            job.fields.pop("statusReason", None)
            reason = next(filter(None, reasons), None)
            if reason:
                job.fields["statusReason"] = reason
            return


def _place(store: BatchStore, ec2: Any, job: Job, environment: ComputeEnvironment) -> str | None:
    """Start a job in an environment, or return why it does not fit or lacks capacity."""
    if not environment.takes_jobs:
        return None
    types = [each for each in _types_for(job, environment) if _can_hold(each, job)]
    if not types:
        return (
            f"{_NO_TYPE}The job resource requirement (vCPU/memory/GPU) is higher than that can be "
            "met by the CE(s) attached to the job queue."
        )
    chosen = min(types, key=vcpus_of)
    most = environment.resources["maxvCpus"]
    if job.node_count * vcpus_of(chosen) > most:
        return f"{_NO_ROOM}CE(s) associated with the job queue have insufficient maxvCpus ({most})."
    free = [each for each in environment.nodes if _has_room(store, environment, each, job, types)]
    missing = job.node_count - len(free)
    if missing > 0:
        if desired_vcpus(environment) + missing * vcpus_of(chosen) > most:
            return None
        launched = _launched(ec2, environment, chosen, missing)
        if not launched:
            return environment.refusal
        free += launched
    if _stays_outside(environment):
        return None
    _start_on(job, environment, free[: job.node_count])
    return None


def _types_for(job: Job, environment: ComputeEnvironment) -> list[str]:
    """Return the instance types of an environment that a job can run on."""
    types: list[str] = environment.resources["instanceTypes"]
    return [each for each in types if not job.instance_types or each in job.instance_types]


def _can_hold(instance_type: str, job: Job) -> bool:
    return largest(job.containers).fits_into(size_of_type(instance_type))


def _has_room(
    store: BatchStore,
    environment: ComputeEnvironment,
    node: Node,
    job: Job,
    types: list[str],
) -> bool:
    if node.generation != environment.generation or not is_running(node):
        return False
    if node.instance.instance_type not in types:
        return False
    others = [store.jobs[each] for each in node.jobs]
    # A multi-node parallel job uses its nodes exclusively:
    # https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html
    if others and (job.is_multinode or any(other.is_multinode for other in others)):
        return False
    taken = together(largest(each.containers) for each in (*others, job))
    return taken.fits_into(size_of_type(node.instance.instance_type))


def _launched(
    ec2: Any, environment: ComputeEnvironment, instance_type: str, count: int
) -> list[Node]:
    """Launch all nodes or none, so that an incomplete job holds no capacity."""
    now = CLOCK.now()
    if environment.next_attempt is not None and now < environment.next_attempt:
        return []
    made: list[Node] = []
    try:
        for _ in range(count):
            made.append(launch(ec2, environment, instance_type))  # noqa: PERF401 - see except
    except ServiceException as error:
        for node in made:
            terminate(ec2, environment, node)
        code, message = code_and_message(error)
        environment.refusal = (
            f"{_NO_CAPACITY}Service cannot fulfill the capacity requested for instance type "
            f"{instance_type}: {code}: {message}"
        )
        environment.next_attempt = now + RETRY_INTERVAL
        return []
    environment.refusal = environment.next_attempt = None
    return made


def _start_on(job: Job, environment: ComputeEnvironment, nodes: list[Node]) -> None:
    for node in nodes:
        node.jobs.add(job.identifier)
        node.idle_since = None
    job.nodes, job.environment = nodes, environment
    job.fields.pop("statusReason", None)
    job.fields["status"], job.since = "STARTING", CLOCK.now()


def _stays_outside(environment: ComputeEnvironment) -> bool:
    """Return whether nodes of an environment run but never register with ECS.

    Batch does not report this: the job waits.
    """
    return never_joins(FAULTS, environment.fields["computeEnvironmentName"])


def _scale_in(ec2: Any, environment: ComputeEnvironment) -> None:
    if _stays_outside(environment):
        return
    now, minimum = CLOCK.now(), environment.resources["minvCpus"]
    for node in [*environment.nodes]:
        if node.idle_since is None:
            continue
        old = node.generation != environment.generation or not is_running(node)
        kept = desired_vcpus(environment) - vcpus_of(node.instance.instance_type)
        if old or (now - node.idle_since >= IDLE and kept >= minimum):
            terminate(ec2, environment, node)
