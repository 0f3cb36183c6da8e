"""`run` for AWS Batch: a job definition of the stack with another command.

Source:
    https://docs.aws.amazon.com/batch/latest/userguide/job_env_vars.html: the address of the main
        node is not set on the main node
    https://docs.aws.amazon.com/batch/latest/APIReference/API_SubmitJob.html
    https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html: Batch starts the whole job
        again, so that torchrun does not have to; what matches no rule is retried
    https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html: only the main
        node decides whether a job is retried
    https://github.com/aws/aws-cdk, packages/aws-cdk-lib/aws-batch/lib/job-definition-base.ts:
        `Host EC2` begins the status reason of a job whose instance was terminated
    https://docs.aws.amazon.com/batch/latest/userguide/job_timeouts.html: a timeout of Batch leaves
        30 seconds until SIGKILL, is not precise, and begins with each attempt
    https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_TaskOverride.html: at most 8,192
        characters
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.components.batch.compute_environment_plan import ComputeEnvironmentPlan
from trainyard.components.batch.nccl_command import LARGEST_COMMAND, on_all_nodes
from trainyard.components.batch.plan import BatchPlan, JobDefinitionPlan
from trainyard.components.catalog.image_references import ImageReference, in_registry
from trainyard.components.catalog.instance_types import Accelerators
from trainyard.components.catalog.open_mpi import OPEN_MPI_ENVIRONMENT, mpirun_script
from trainyard.jobs.batch_request import BatchRequest, BatchSubmission, require_nodes, submission_of
from trainyard.jobs.nodes import JobError
from trainyard.jobs.secret_source import arns_for_batch
from trainyard.jobs.start import limit_environment, limit_of_mpi, start_command
from trainyard.jobs.time_limit import GRACE_SECONDS, TIMED_OUT, TimeLimit
from trainyard.jobs.training import (
    INFRASTRUCTURE_RETRIES,
    TrainingRequest,
    launch_command,
    node_environment,
    processes_of,
    refuse_fewer_nodes,
    require_shared,
    require_torchrun,
)

_START = """\
export NODE_RANK=${AWS_BATCH_JOB_NODE_INDEX:-0}
export MASTER_ADDR=${AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS:-127.0.0.1}
export PET_NODE_RANK=$NODE_RANK PET_MASTER_ADDR=$MASTER_ADDR
"""
_MPI_HOSTS = """\
read -ra hosts <<< "$HOSTS"
export MASTER_ADDR=${hosts[0]}
network=()
if [ "$NODES" -gt 1 ]; then
  network=(--mca oob_tcp_if_include "$INTERFACE" -x NCCL_SOCKET_IFNAME)
fi
"""
"""The interface through which the nodes have connected; see `components/batch/nccl_command.py`."""
_LOST_HOST = {"action": "RETRY", "onStatusReason": "Host EC2*"}
_ENDED = {"action": "EXIT", "onReason": "*"}
_OUT_OF_TIME = {"action": "EXIT", "onExitCode": str(TIMED_OUT)}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTraining:
    """A program in the container of a job definition whose nodes can run it."""

    plan: BatchPlan
    request: TrainingRequest
    definition: JobDefinitionPlan
    accelerators: Accelerators
    nodes: int

    @property
    def environments(self) -> list[ComputeEnvironmentPlan]:
        """The compute environments of the job, one for each of their Capacity Blocks."""
        name = self.definition.compute_environment
        return [each for each in self.plan.compute_environments if each.pool == name]

    def submission(self, limit: TimeLimit) -> BatchSubmission:
        """Return the submission of the program with a time limit.

        Raises:
            JobError: the command is too long.
        """
        request = self.request.limited(limit)
        command, environment = self._command(request)
        environment |= limit_environment(request)
        changed = {
            "command": [*command],
            "environment": [{"name": name, "value": value} for name, value in environment.items()],
        }
        if len(json.dumps(changed)) > LARGEST_COMMAND:
            raise JobError(
                f"the command and its variables have more than {LARGEST_COMMAND} characters, the "
                "limit of Batch; write them into a script of the image"
            )
        return submission_of(
            self.plan,
            self.definition,
            name=request.name,
            nodes=self.nodes,
            container=changed,
            fields={**_timeout(request), "retryStrategy": _retry(request)},
        )

    def _command(self, request: TrainingRequest) -> tuple[Sequence[str], dict[str, str]]:
        """Return the command of a node, and its variables."""
        container = self.definition.container
        neuron = sum(each.startswith("/dev/neuron") for each in container.devices)
        devices = container.gpus or neuron
        environment = node_environment(
            request,
            self.accelerators,
            devices=devices,
            nodes=self.nodes,
            efa_interfaces=sum(each.startswith("/dev/infiniband") for each in container.devices),
        )
        if request.launcher != "mpi":
            return start_command(request, _START), environment
        variables = [*environment, *container.secrets]
        script = _mpi_script(request, processes_of(self.accelerators, devices), variables)
        return on_all_nodes(script), {**OPEN_MPI_ENVIRONMENT, **environment}


def plan_training(plan: BatchPlan, request: TrainingRequest, asked: BatchRequest) -> BatchTraining:
    """Return a program in the container of a job definition.

    Raises:
        JobError: an image, no matching job definition, or too few nodes.
    """
    definition = _choose(plan, asked)
    _refuse_foreign(request, definition)
    _require_secrets(request, definition)
    accelerators = definition.instance_type.accelerators
    if accelerators is None:
        raise JobError(f"the nodes of the job definition {definition.name} have no accelerators")
    nodes = asked.nodes or definition.nodes
    require_nodes(plan, definition, nodes)
    return BatchTraining(
        plan=plan,
        request=request,
        definition=definition,
        accelerators=accelerators,
        nodes=nodes,
    )


def _refuse_foreign(request: TrainingRequest, definition: JobDefinitionPlan) -> None:
    """Refuse what a job definition determines, or what only EKS and Slurm have.

    Raises:
        JobError: the request has it.
    """
    refuse_fewer_nodes(request, "AWS Batch")
    require_torchrun(request)
    require_shared(request, ())
    if request.mounts:
        raise JobError(
            "`mounts` is for EKS and Slurm: a job definition has no shared file systems; remove it"
        )
    if request.files:
        raise JobError(
            "`files` is for EKS and Slurm: put the files into the image of the job definition, and "
            "remove it"
        )
    image = request.image_in_registry("AWS Batch")
    if image is not None and not _is_image_of(definition, image):
        raise JobError(
            f"the image of a Batch job is that of its job definition, and {definition.name} has "
            f"{definition.container.image or 'one of the repository of the stack'}; set "
            f"`architecture.job_definitions.{definition.name}.image` in the stack file to "
            f"{image.name}, or remove the image of the job"
        )


def _is_image_of(definition: JobDefinitionPlan, image: ImageReference) -> bool:
    """Return whether a job definition has an image, and not one of the stack's repository."""
    if definition.container.image is None:
        return False
    own = in_registry(definition.container.image, starts="AWS Batch")
    return (own.registry, own.path, own.reference) == (image.registry, image.path, image.reference)


def _require_secrets(request: TrainingRequest, definition: JobDefinitionPlan) -> None:
    """Refuse secrets that the job definition does not have: a submission cannot add any.

    https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerOverrides.html

    Raises:
        JobError: it has other secrets, or the job has a variable of the name of one.
    """
    key = f"architecture.job_definitions.{definition.name}.secrets"
    has = definition.container.secrets
    wanted = arns_for_batch(request.secrets)
    missing = {name: each.text for name, each in wanted.items() if has.get(name) != each.text}
    if missing:
        lines = "".join(f'\n    {name}: "{arn}"' for name, arn in missing.items())
        raise JobError(
            f"a job of AWS Batch has the secrets of its job definition {definition.name}, whose "
            "role may read no others; set them in the stack file, and run `up`:\n"
            f"  {key}:{lines}"
        )
    twice = [name for name in has if name in request.environment]
    if twice:
        raise JobError(
            f"{', '.join(twice)} cannot be a variable with a plain value: it is a secret of the "
            f"job definition {definition.name} (`{key}`)"
        )


def _mpi_script(request: TrainingRequest, processes: int, variables: Sequence[str]) -> str:
    """Return the script of the main node, which can reach all nodes; see `on_all_nodes`."""
    limit, prefix = limit_of_mpi(request)
    started = mpirun_script(
        launch_command(request),
        ranks=f"$((NODES * {processes}))",
        processes=processes,
        hosts='"${hosts[@]}"',
        variables=["MASTER_ADDR", *variables],
        grace_seconds=GRACE_SECONDS,
        options='"${network[@]}" ',
        prefix=prefix,
    )
    return f"{_MPI_HOSTS}{limit}{started}"


def _timeout(request: TrainingRequest) -> dict[str, Any]:
    """Return when Batch ends an attempt whose nodes have not ended by themselves."""
    limit = request.time_limit_minutes
    if limit is None:
        return {}
    return {"timeout": {"attemptDurationSeconds": (limit + GRACE_SECONDS // 60 + 1) * 60}}


def _retry(request: TrainingRequest) -> dict[str, Any]:
    """Return the retry strategy: a lost node is retried, and an error only with restarts."""
    if request.restarts:
        return {"attempts": request.restarts + 1, "evaluateOnExit": [_OUT_OF_TIME]}
    return {"attempts": INFRASTRUCTURE_RETRIES + 1, "evaluateOnExit": [_LOST_HOST, _ENDED]}


def _choose(plan: BatchPlan, asked: BatchRequest) -> JobDefinitionPlan:
    found = {each.name: each for each in plan.job_definitions}
    if asked.definition is not None and asked.definition not in found:
        raise JobError(
            f"{plan.name} has no job definition {asked.definition!r}; there is: {', '.join(found)}"
        )
    if asked.definition is not None:
        return found[asked.definition]
    if len(found) != 1:
        raise JobError(
            f"{plan.name} has {len(found)} job definitions, and the program runs in the container "
            f"of one; name it with --definition: {', '.join(found) or 'none'}"
        )
    return next(iter(found.values()))
