"""`job` for AWS Batch stacks: prints or submits the request, and says how to follow the job.

Source:
    https://docs.aws.amazon.com/batch/latest/userguide/job_states.html
    https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html: nodes have the
        address `JOB#0` and separate logs
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from components.catalog.collective_tests import TESTS_BY_MAKER
from tools.cli import console, failures
from tools.cli.batch_waiting import JobWait, wait_for

if TYPE_CHECKING:
    from components.batch.plan import BatchPlan
    from components.catalog.collective_tests import JobTest
    from tools.jobs.batch_request import BatchRequest, BatchSubmission
    from tools.workspace.stack_files import StackFile

JOBS: tuple[JobTest, ...] = tuple(TESTS_BY_MAKER.values())
"""Jobs for Batch stacks."""
LOG_GROUP = "/aws/batch/job"
"""Log group of Batch jobs.
https://docs.aws.amazon.com/batch/latest/userguide/using_awslogs.html"""
# `environment` of components.config.batch_fields, split into name and value.
_VARIABLE = re.compile(r"(?!AWS_BATCH)([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


def environment_of(settings: Sequence[str]) -> dict[str, str]:
    """Return the variables of `--env NAME=VALUE`, by name.

    Raises:
        WrongUseError: a setting is invalid, or the variable is reserved by Batch.
    """
    found = {setting: _VARIABLE.fullmatch(setting) for setting in settings}
    wrong = [setting for setting, match in found.items() if match is None]
    if wrong:
        raise failures.WrongUseError(
            "--env requires NAME=VALUE, and a name that does not begin with AWS_BATCH: "
            f"{', '.join(wrong)}"
        )
    return {match[1]: match[2] for match in found.values() if match}


def print_job(plan: BatchPlan, test: JobTest, asked: BatchRequest) -> None:
    """Print the request as input for `aws batch submit-job --cli-input-json`.

    Raises:
        WrongUseError: the stack has no job definition for the job, or too few nodes.
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
    wait: JobWait | None,
) -> None:
    """Submit the job, print its id on standard output, and say how to follow it.

    Raises:
        WrongUseError: the stack has no job definition for the job, too few nodes, or no
            credentials.
        StackLockedError: another command holds the lock of the stack.
        CommandError: Batch rejects the job or, with `--wait`, the job fails or does not start.
    """
    import boto3

    from components.account.call_failures import CLIENT
    from tools.cli.session import account_access, refuse_occupied

    submission = _submission(plan, test, asked)
    # While the stack changes, the queue and the definition may change as well.
    refuse_occupied(stack_file, sandbox=sandbox)
    with account_access(sandbox=sandbox, profile=stack_file.profile):
        batch = boto3.client("batch", region_name=plan.region, config=CLIENT)
        job_id = _submit(plan.region, submission, stack_file, sandbox=sandbox)
        console.answer(job_id)
        console.progress(f"submitted {_described(test, submission)}")
        if not sandbox:
            console.progress("\n  ".join(_follow(plan.region, job_id, submission)))
        if wait:
            wait_for(batch, job_id, lambda job: _explain(job, batch, plan, submission), wait)


def _explain(
    job: Mapping[str, Any],
    batch: Any,
    plan: BatchPlan,
    submission: BatchSubmission,
) -> list[str]:
    """Return why a job waits; what cannot be queried is reported instead."""
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    from components.account.call_failures import CLIENT
    from tools.diagnosis.waiting_job import read_queued_job, why_it_waits

    name = submission.compute_environment
    capacity = next(each.capacity for each in plan.compute_environments if each.name == name)
    single = [capacity.reservation_id] if capacity.reservation_id else []
    members = [each.rpartition("/")[2] for each in capacity.reservation_group_members]
    try:
        queued = read_queued_job(
            batch,
            boto3.client("ec2", region_name=plan.region, config=CLIENT),
            job,
            environment=name,
            stack=plan.name,
            reservation_ids=[*single, *members],
        )
    except (BotoCoreError, ClientError) as error:
        return [f"the reason cannot be read from the account: {error}"]
    return why_it_waits(queued)


def _submission(plan: BatchPlan, test: JobTest, asked: BatchRequest) -> BatchSubmission:
    from tools.jobs.batch_request import batch_submission
    from tools.jobs.nodes import JobError

    try:
        return batch_submission(plan, test, asked)
    except JobError as error:
        raise failures.WrongUseError(str(error)) from error


def _submit(
    region: str, submission: BatchSubmission, stack_file: StackFile, *, sandbox: bool
) -> str:
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    from components.account.call_failures import explained
    from tools.cli.batch_submission import UNREPEATED, submit_once

    try:
        batch = boto3.client("batch", region_name=region, config=UNREPEATED)
        return submit_once(batch, submission.request)
    except (BotoCoreError, ClientError) as error:
        command = stack_file.command("up", sandbox=sandbox)
        raise failures.CommandError(
            f"Batch rejected the job: {explained('batch:SubmitJob', error)}\n"
            f"  if the stack is not deployed yet:  {command}"
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
        "commands for this job:",
        f"{describe} --jobs {job_id} --query 'jobs[0].[status,statusReason]'",
        f'aws logs tail {LOG_GROUP} --region {region} --follow --log-stream-names "{stream}"',
        f"aws batch terminate-job --region {region} --job-id {job_id} --reason unneeded",
    ]
