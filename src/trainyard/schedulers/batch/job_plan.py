"""The jobs of `job` and `run` for AWS Batch stacks, as requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trainyard.cli import console
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.catalog.capacity_blocks import terminated_before_end
from trainyard.jobs.batch_request import BatchRequest, BatchSubmission, batch_submission
from trainyard.jobs.batch_training import plan_training
from trainyard.jobs.names import BATCH_JOBS
from trainyard.jobs.time_limit import TimeLimit
from trainyard.jobs.training import TrainingRequest
from trainyard.schedulers.job_wait import RequestedJob, environment_of, tell_plain_secrets
from trainyard.schedulers.scheduler import PlannedProgram


@dataclass(frozen=True, slots=True)
class BatchJob:
    """The request for a job."""

    submission: BatchSubmission
    hint: str = ""
    """What to say after it was printed; empty for nothing."""

    def show(self) -> None:
        """Print the request as input for `aws batch submit-job --cli-input-json`."""
        console.answer_json(self.submission.request)
        if self.hint:
            console.progress(self.hint)


def asked_environment(asked: RequestedJob, reserved_prefix: str) -> dict[str, str]:
    """Return the variables of a job of `job`.

    Raises:
        WrongUseError: one is invalid.
    """
    environment = environment_of(asked.options["--env"] or (), reserved_prefix)
    tell_plain_secrets(environment, "use `secrets` of its job definition instead")
    return environment


def plan_test(plan: BatchPlan, asked: RequestedJob, environment: Mapping[str, str]) -> BatchJob:
    """Return a job of `job`.

    Raises:
        JobError: the stack has no job definition for the job, or too few nodes.
    """
    test = BATCH_JOBS[BATCH_JOBS.index(asked.name)]
    wanted = BatchRequest(
        definition=asked.options["--definition"], nodes=asked.nodes, environment=environment
    )
    submission = batch_submission(plan, test, wanted)
    return BatchJob(
        submission,
        f"{submission.description}; submit it with --submit, or from a file:\n"
        f"  aws batch submit-job --region {plan.region} --cli-input-json file://FILE",
    )


def plan_program(
    plan: BatchPlan, asked: RequestedJob, request: TrainingRequest
) -> PlannedProgram[BatchJob]:
    """Return a program of `run`.

    Raises:
        JobError: an image, no matching job definition, or too few nodes.
    """
    wanted = BatchRequest(definition=asked.options["--definition"], nodes=asked.nodes)
    training = plan_training(plan, request, wanted)
    environments = training.environments

    def render(limit: TimeLimit) -> BatchJob:
        submission = training.submission(limit)
        for name, arn in submission.secrets.items():
            console.progress(f"{name} is a secret of the job definition: {arn}")
        return BatchJob(submission)

    return PlannedProgram(
        time_limit_minutes=request.time_limit_minutes,
        capacities=[each.capacity for each in environments],
        nodes_leave_before=terminated_before_end(environments[0].instance_type.name),
        render=render,
    )
