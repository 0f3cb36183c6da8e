"""State transitions of jobs, their attempts, and their containers while they run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from moto.core.exceptions import ServiceException
from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.ecr.models import ecr_backends
from moto.logs.models import LogsBackend, logs_backends
from moto.moto_api._internal import mock_random
from moto.secretsmanager.exceptions import SecretsManagerClientError
from moto.secretsmanager.models import secretsmanager_backends
from moto.ssm.models import ssm_backends

from trainyard.sandbox.aws.batch.nodes import desired_vcpus, is_running, launch, terminate, vcpus_of
from trainyard.sandbox.aws.batch.store import (
    ENDED,
    BatchStore,
    ComputeEnvironment,
    Fields,
    Job,
    Node,
    Run,
)
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.errors import code_and_message
from trainyard.sandbox.aws.iam import may
from trainyard.sandbox.faults.kinds import (
    SIGTERM_EXIT_CODE,
    Course,
    StartedContainer,
    course_of,
    never_joins,
)
from trainyard.sandbox.faults.schedule import FAULTS

# Containers of jobs: their resources, and why one does not start on a node.
#
# The sandbox runs no containers. A container starts if its image exists, the node has its devices,
# and its execution role may read its secrets, whose values go nowhere; `runs` decides what it does
# then.
#
# Sources:
#     https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerProperties.html
#     https://docs.aws.amazon.com/batch/latest/APIReference/API_Secret.html and
#         https://docs.aws.amazon.com/batch/latest/userguide/specifying-sensitive-data-secrets.html:
#         `valueFrom`, the ARN of a parameter, or of a secret with `:KEY:STAGE:VERSION`
#         after it
#     https://github.com/aws/amazon-ecs-agent, agent/taskresource/asmsecret/asmsecret.go,
#         agent/taskresource/ssmsecret/ssmsecret.go and agent/asm/asm.go: why the agent does
#         not get a secret


_OWN_REGISTRY = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?/"
    r"(?P<name>[^:@]+)(?::(?P<tag>[^@]+))?(?:@(?P<digest>.+))?"
)
_SECRET = re.compile(
    r"arn:aws[a-z-]*:(?P<service>secretsmanager|ssm):(?P<region>[a-z0-9-]+):(?P<account>\d{12}):"
    r"(?P<kind>secret:|parameter)(?P<name>[^:\s]+)"
    r"(?::(?P<key>[^:\s]*):(?P<stage>[^:\s]*):(?P<version>[^:\s]*))?"
)
_KINDS = {"secretsmanager": "secret:", "ssm": "parameter"}
_DEVICE = re.compile(r"/dev/(?P<kind>infiniband/uverbs|neuron)(?P<number>\d+)")


@dataclass(frozen=True, order=True, kw_only=True)
class Size:
    """Resources: vCPUs, MiB of memory, NVIDIA GPUs."""

    vcpus: float
    memory_mib: int
    gpus: int

    def fits_into(self, other: Size) -> bool:
        """Return whether it fits into another size."""
        return (
            self.vcpus <= other.vcpus
            and self.memory_mib <= other.memory_mib
            and self.gpus <= other.gpus
        )


def size_of(container: Mapping[str, Any]) -> Size:
    """Return the resources of a container."""
    needs = {each["type"]: each["value"] for each in container.get("resourceRequirements") or []}
    return Size(
        vcpus=float(needs.get("VCPU") or container.get("vcpus") or 0),
        memory_mib=int(needs.get("MEMORY") or container.get("memory") or 0),
        gpus=int(needs.get("GPU") or 0),
    )


def largest(containers: Iterable[Mapping[str, Any]]) -> Size:
    """Return a size into which each of the containers fits."""
    sizes = [size_of(each) for each in containers]
    return Size(
        vcpus=max(size.vcpus for size in sizes),
        memory_mib=max(size.memory_mib for size in sizes),
        gpus=max(size.gpus for size in sizes),
    )


def together(sizes: Iterable[Size]) -> Size:
    """Return the sum of sizes."""
    each = list(sizes)
    return Size(
        vcpus=sum(size.vcpus for size in each),
        memory_mib=sum(size.memory_mib for size in each),
        gpus=sum(size.gpus for size in each),
    )


def size_of_type(instance_type: str) -> Size:
    """Return the resources of an instance type; ECS reserves a little of its memory."""
    described = INSTANCE_TYPES[instance_type]
    gpus = (described.get("GpuInfo") or {}).get("Gpus", [])
    return Size(
        vcpus=described["VCpuInfo"]["DefaultVCpus"],
        memory_mib=described["MemoryInfo"]["SizeInMiB"],
        gpus=sum(gpu["Count"] for gpu in gpus if gpu["Manufacturer"] == "NVIDIA"),
    )


def start_failure(container: Mapping[str, Any], node: Node) -> str | None:
    """Return why a container does not start on a node, as ECS words it; None if it starts."""
    for secret in container.get("secrets") or []:
        unread = _unread_secret(secret["valueFrom"], container.get("executionRoleArn"))
        if unread:
            return unread
    missing = _missing_image(container["image"])
    if missing:
        return f"CannotPullContainerError: {missing}"
    parameters = container.get("linuxParameters") or {}
    for device in parameters.get("devices") or []:
        if not _has(node, device["hostPath"]):
            return (
                "CannotStartContainerError: Error response from daemon: error gathering device "
                f'information while adding custom device "{device["hostPath"]}": no such file or '
                "directory"
            )
    return None


def _unread_secret(reference: str, role_arn: str | None) -> str | None:
    """Return why ECS does not get a secret with a role; None if it does."""
    secret = _SECRET.fullmatch(reference)
    if secret is None or _KINDS[secret["service"]] != secret["kind"]:
        raise NotImplementedError("secrets without the ARN of a secret or of a parameter")
    if role_arn is None:
        return (
            "ClientException: When you are specifying container secrets, you must also specify a "
            "value for 'executionRoleArn'."
        )
    arn = secret.string[: secret.end("name")]
    if secret["service"] == "ssm":
        begins = f"Fetching secret data from SSM Parameter Store in {secret['region']}: "
        action, problem = "ssm:GetParameters", _missing_parameter
    else:
        begins = (
            f"Fetching secret data from AWS Secrets Manager in region {secret['region']}: secret "
            f"{arn}: "
        )
        action, problem = "secretsmanager:GetSecretValue", _missing_value
    if not may(role_arn, action, arn):
        partition, account, name = (role_arn.split(":", 5)[i] for i in (1, 4, 5))
        return (
            f"{begins}AccessDeniedException: User: arn:{partition}:sts::{account}:assumed-role/"
            f"{name.rpartition('/')[2]}/{mock_random.get_random_hex(32)} is not authorized to "
            f"perform: {action} on resource: {arn} because no identity-based policy allows "
            f"the {action} action"
        )
    missing = problem(secret, arn)
    return None if missing is None else f"{begins}{missing}"


def _missing_parameter(secret: re.Match[str], arn: str) -> str | None:
    ssm = ssm_backends[secret["account"]][secret["region"]]
    return None if ssm.get_parameters([arn]) else f"invalid parameters: {secret['name']}"


def _missing_value(secret: re.Match[str], arn: str) -> str | None:
    secrets = secretsmanager_backends[secret["account"]][secret["region"]]
    key = secret["key"]
    try:
        found = secrets.get_secret_value(arn, secret["version"] or "", secret["stage"] or "")
    except SecretsManagerClientError as error:
        return f"{error.error_type}: {error.message}"
    if "SecretString" not in found:
        return f"secret {arn} does not contain a string"
    if key and key not in _document(found["SecretString"]):
        return f"retrieved secret from Secrets Manager did not contain json key {key}"
    return None


def _document(text: str) -> Any:
    """Return a JSON document; empty if the text is none."""
    try:
        return json.loads(text)
    except ValueError:
        return {}


def _missing_image(image: str) -> str | None:
    """Return what is missing of an image in an ECR registry; other registries are not checked."""
    match = _OWN_REGISTRY.fullmatch(image)
    if match is None:
        return None
    repositories = ecr_backends[match["account"]][match["region"]].repositories
    if match["name"] not in repositories:
        return f"repository {match['name']} not found"
    tag, digest = match["tag"] or "latest", match["digest"]
    for each in repositories[match["name"]].images:
        if each.image_digest == digest if digest else tag in each.image_tags:
            return None
    return f"{image}: not found"


def _has(node: Node, path: str) -> bool:
    """Return whether a node has a device; only EFA and Neuron devices are checked."""
    match = _DEVICE.fullmatch(path)
    if match is None:
        return True
    if match["kind"] == "neuron":
        neuron = INSTANCE_TYPES[node.instance.instance_type].get("NeuronInfo") or {}
        count = sum(each["Count"] for each in neuron.get("NeuronDevices", []))
    else:
        kinds = [each.interface_type for each in node.instance.nics.values()]
        count = sum(kind.startswith("efa") for kind in kinds)
    return int(match["number"]) < count


# Whether Batch starts a job again after an attempt.
#
# https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html
# https://docs.aws.amazon.com/batch/latest/APIReference/API_EvaluateOnExit.html


def is_retried(
    strategy: Mapping[str, Any], attempts: int, *, exit_code: int | None, reason: str
) -> bool:
    """Return whether a failed attempt is followed by another one.

    The first rule whose conditions all match decides; if none matches, the job is retried.

    Args:
        strategy: The `retryStrategy` of the job.
        attempts: Number of attempts so far.
        exit_code: Exit code of the container; None if it has none.
        reason: Why the attempt ended.
    """
    if attempts >= strategy["attempts"]:
        return False
    found = {
        "onExitCode": "" if exit_code is None else str(exit_code),
        "onReason": reason if exit_code is None else "",
        "onStatusReason": reason,
    }
    for rule in strategy["evaluateOnExit"]:
        if all(_matches(rule[key], value) for key, value in found.items() if rule.get(key)):
            return rule["action"].upper() == "RETRY"
    return True


def _matches(pattern: str, value: str) -> bool:
    beginning = pattern.removesuffix("*")
    return value.startswith(beginning) if beginning != pattern else value == pattern


# The containers of a job while they run, one on each node, according to the schedule of faults.
#
# The main node, or the only one, decides about a job. Batch takes no action if a child node dies,
# and stops the child nodes when the main node has ended.
# https://docs.aws.amazon.com/batch/latest/userguide/job-lifecycle.html


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


# State transitions of jobs, and the start and end of their nodes.
#
# Nodes start when a job waits and end some seconds after the last job; AWS takes minutes for both.
# The oldest job of a queue that cannot be placed blocks the others, as in AWS:
# https://docs.aws.amazon.com/batch/latest/userguide/job_stuck_in_runnable.html


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
