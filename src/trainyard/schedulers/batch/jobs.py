"""`job` for AWS Batch stacks: prints the request, or submits it."""

from __future__ import annotations

from trainyard.cli import console, failures
from trainyard.components.batch.plan import BatchPlan
from trainyard.jobs.batch_request import BatchRequest, batch_submission
from trainyard.jobs.names import BATCH_JOBS
from trainyard.jobs.nodes import JobError
from trainyard.schedulers.job_wait import RequestedJob, environment_of, tell_plain_secrets
from trainyard.stack_files.stack_config import plan_of
from trainyard.stack_files.stack_files import BATCH


def make_job(asked: RequestedJob) -> None:
    """Print the request as input for `aws batch submit-job --cli-input-json`, or submit it.

    Raises:
        WrongUseError: the stack has no job definition for the job, or too few nodes.
    """
    test = BATCH_JOBS[BATCH_JOBS.index(asked.name)]
    wanted = BatchRequest(
        definition=asked.options["--definition"],
        nodes=asked.nodes,
        environment=environment_of(asked.options["--env"] or (), BATCH),
    )
    tell_plain_secrets(wanted.environment, "use `secrets` of its job definition instead")
    plan = plan_of(asked.stack_file)
    assert isinstance(plan, BatchPlan)  # noqa: S101 - no other kind has these jobs
    try:
        submission = batch_submission(plan, test, wanted)
    except JobError as error:
        raise failures.WrongUseError(str(error)) from error
    if asked.submit:
        asked.deployed.submit_request(plan, submission, asked.wait)
        return
    console.answer_json(submission.request)
    console.progress(
        f"{submission.description}; submit it with --submit, or from a file:\n"
        f"  aws batch submit-job --region {plan.region} --cli-input-json file://FILE"
    )
