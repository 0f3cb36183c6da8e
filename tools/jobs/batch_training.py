"""`run` for AWS Batch: a job definition of the stack with another command.

Source:
    https://docs.aws.amazon.com/batch/latest/userguide/job_env_vars.html: the address of the main
        node is not set on the main node
    https://docs.aws.amazon.com/batch/latest/APIReference/API_SubmitJob.html
    https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html: Batch starts the whole job
        again, so that torchrun does not have to
    https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_TaskOverride.html: at most 8,192
        characters
"""

from __future__ import annotations

import json

from components.batch.nccl_command import LARGEST_COMMAND
from components.batch.plan import BatchPlan, JobDefinitionPlan
from tools.jobs.batch_request import BatchRequest, BatchSubmission, submission_of
from tools.jobs.nodes import JobError
from tools.jobs.training import (
    TrainingRequest,
    launch_command,
    node_environment,
    refuse_fewer_nodes,
    require_shared,
)

_START = """\
export NODE_RANK=${AWS_BATCH_JOB_NODE_INDEX:-0}
export MASTER_ADDR=${AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS:-127.0.0.1}
export PET_NODE_RANK=$NODE_RANK PET_MASTER_ADDR=$MASTER_ADDR
exec "$@"
"""


def training_submission(
    plan: BatchPlan, request: TrainingRequest, asked: BatchRequest
) -> BatchSubmission:
    """Return the submission of a program in the container of a job definition.

    Raises:
        JobError: an image, no matching job definition, too few nodes, or too long a command.
    """
    definition = _choose(plan, asked)
    refuse_fewer_nodes(request, "AWS Batch")
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
    if request.image is not None:
        raise JobError(
            "the image of a Batch job is that of its job definition; set "
            f"`architecture.job_definitions.{definition.name}.image` in the stack file"
        )
    accelerators = definition.instance_type.accelerators
    if accelerators is None:
        raise JobError(f"the nodes of the job definition {definition.name} have no accelerators")
    nodes, container = asked.nodes or definition.nodes, definition.container
    neuron = sum(each.startswith("/dev/neuron") for each in container.devices)
    environment = node_environment(
        request,
        accelerators,
        devices=container.gpus or neuron,
        nodes=nodes,
        efa_interfaces=sum(each.startswith("/dev/infiniband") for each in container.devices),
    )
    changed = {
        "command": ["bash", "-c", _START, request.name, *launch_command(request)],
        "environment": [{"name": name, "value": value} for name, value in environment.items()],
    }
    if len(json.dumps(changed)) > LARGEST_COMMAND:
        raise JobError(
            f"the command and its variables have more than {LARGEST_COMMAND} characters, the limit "
            "of Batch; write them into a script of the image"
        )
    return submission_of(
        plan,
        definition,
        name=request.name,
        nodes=asked.nodes,
        container=changed,
        timeout_minutes=request.time_limit_minutes,
        attempts=request.restarts + 1,
    )


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
