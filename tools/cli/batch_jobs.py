"""`job` for AWS Batch stacks: the request, printed or submitted, and how to follow the job.

Source:
    https://docs.aws.amazon.com/batch/latest/userguide/job_states.html
    https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html: nodes are
    addressed as `JOB#0`, and the log of each is its own
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tools.cli import console, failures

if TYPE_CHECKING:
    from components.batch.nccl_command import JobTest
    from components.batch.plan import BatchPlan
    from tools.jobs.batch_request import BatchRequest, BatchSubmission
    from tools.workspace.stack_files import StackFile

TESTS: Mapping[str, JobTest] = {"nccl-tests": "nccl-tests", "nccom-tests": "nccom-tests"}
JOBS = tuple(TESTS)
"""Jobs that Batch stacks have."""
LOG_GROUP = "/aws/batch/job"
"""Where Batch puts the logs of jobs.
https://docs.aws.amazon.com/batch/latest/userguide/using_awslogs.html"""
POLL_SECONDS = 5
_ENDED = ("SUCCEEDED", "FAILED")
# `environment` of components.config.batch_fields, in a word and its value.
_VARIABLE = re.compile(r"(?!AWS_BATCH)([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


def environment_of(settings: Sequence[str]) -> dict[str, str]:
    """Return the variables of `--env NAME=VALUE`, by name.

    Raises:
        WrongUseError: one of them is none, or is Batch's own.
    """
    found = {setting: _VARIABLE.fullmatch(setting) for setting in settings}
    wrong = [setting for setting, match in found.items() if match is None]
    if wrong:
        raise failures.WrongUseError(
            f"--env takes NAME=VALUE, and no name that begins with AWS_BATCH: {', '.join(wrong)}"
        )
    return {match[1]: match[2] for match in found.values() if match}


def print_job(plan: BatchPlan, test: JobTest, asked: BatchRequest) -> None:
    """Print the request as `aws batch submit-job --cli-input-json` takes it.

    Raises:
        WrongUseError: the stack has no job definition for it, or too few nodes.
    """
    submission = _submission(plan, test, asked)
    console.answer_json(submission.request)
    console.progress(
        f"{_described(test, submission)}; submit it with --submit, or from a file:\n"
        f"  aws batch submit-job --region {plan.region} --cli-input-json file://FILE"
    )


def submit_job(
    plan: BatchPlan,
    test: JobTest,
    asked: BatchRequest,
    *,
    stack_file: StackFile,
    sandbox: bool,
    wait: bool,
) -> None:
    """Submit the job, print its id on standard output, and say how to follow it.

    Raises:
        WrongUseError: the stack has no job definition for it, too few nodes, or no credentials.
        CommandError: Batch refuses the job, or, when it is waited for, it fails.
    """
    import boto3

    from tools.cli.session import account_access

    submission = _submission(plan, test, asked)
    with account_access(sandbox=sandbox, profile=stack_file.profile):
        batch = boto3.client("batch", region_name=plan.region)
        job_id = _submit(batch, submission, stack_file, sandbox=sandbox)
        console.answer(job_id)
        console.progress(f"submitted {_described(test, submission)}")
        if not sandbox:
            console.progress("\n  ".join(_follow(plan.region, job_id, submission)))
        if wait:
            wait_for(batch, job_id)


def wait_for(batch: Any, job_id: str, pause: Callable[[float], object] = time.sleep) -> None:
    """Report the states of a job until it has ended.

    Args:
        batch: A boto3 client.
        job_id: The job's.
        pause: What passes so many seconds between two looks.

    Raises:
        CommandError: the job failed.
    """
    seen, reason = "", None
    while seen not in _ENDED:
        (job,) = batch.describe_jobs(jobs=[job_id])["jobs"]
        if job["status"] != seen:
            seen, reason = job["status"], job.get("statusReason")
            console.progress(f"{job_id} is {seen}")
        if seen not in _ENDED:
            pause(POLL_SECONDS)
    if seen == "FAILED":
        raise failures.CommandError(f"the job {job_id} failed: {reason or 'its log says why'}")


def _submission(plan: BatchPlan, test: JobTest, asked: BatchRequest) -> BatchSubmission:
    from tools.jobs.batch_request import batch_submission
    from tools.jobs.nodes import JobError

    try:
        return batch_submission(plan, test, asked)
    except JobError as error:
        raise failures.WrongUseError(str(error)) from error


def _submit(
    batch: Any, submission: BatchSubmission, stack_file: StackFile, *, sandbox: bool
) -> str:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return batch.submit_job(**submission.request)["jobId"]
    except (BotoCoreError, ClientError) as error:
        command = f"./trainyard up {stack_file.stack}{stack_file.options(sandbox=sandbox)}"
        raise failures.CommandError(
            f"Batch did not take the job: {error}\n  if the stack is not up yet:  {command}"
        ) from error


def _described(test: JobTest, submission: BatchSubmission) -> str:
    nodes = "1 node" if submission.nodes == 1 else f"{submission.nodes} nodes"
    return f"{test} on {nodes} of {submission.compute_environment}"


def _follow(region: str, job_id: str, submission: BatchSubmission) -> list[str]:
    """Return the commands that show the job's state and the main node's log, and end the job."""
    main = f"{job_id}#0" if submission.multinode else job_id
    describe = f"aws batch describe-jobs --region {region} --output text"
    stream = f"$({describe} --jobs '{main}' --query 'jobs[0].container.logStreamName')"
    return [
        "follow it:",
        f"{describe} --jobs {job_id} --query 'jobs[0].[status,statusReason]'",
        f'aws logs tail {LOG_GROUP} --region {region} --follow --log-stream-names "{stream}"',
        f"aws batch terminate-job --region {region} --job-id {job_id} --reason unneeded",
    ]
