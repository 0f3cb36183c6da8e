"""`job --submit` and `run`: submit a job to Batch exactly once, even if the response is lost.

`SubmitJob` has no client token
(https://docs.aws.amazon.com/batch/latest/APIReference/API_SubmitJob.html), and boto3 retries a
request without a response. Therefore the request is retried only if Batch said that it did nothing.
If Batch did not respond, the job is looked up by its unique name.

Source:
    https://docs.aws.amazon.com/batch/latest/userguide/job_states.html
    https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html: nodes have the
        address `JOB#0` and separate logs
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError

from trainyard.cli import console, failures
from trainyard.components.account.call_failures import (
    UNREPEATED,
    explained,
    says_nothing_of_the_request,
)
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.catalog.secret_arns import SecretArn
from trainyard.diagnosis.waiting_job import read_queued_job, why_it_waits
from trainyard.jobs.batch_request import BatchSubmission
from trainyard.schedulers.batch.job_wait import LOG_GROUP, MainLog, main_node, wait_for
from trainyard.schedulers.job_wait import NO_CONTAINERS, JobWait, going_on
from trainyard.workspace.session import refuse_occupied
from trainyard.workspace.target import Target

ATTEMPTS = 4
_SUFFIX_BYTES = 4
_SUFFIX = re.compile(rf"-[0-9a-f]{{{2 * _SUFFIX_BYTES}}}\Z")


def short_name(name: str) -> str:
    """Return the name of a job without what `submit_once` appends to it."""
    return _SUFFIX.sub("", name)


def submit_once(
    batch: Any, request: Mapping[str, Any], sleep: Callable[[float], None] = time.sleep
) -> str:
    """Submit a job under a unique name and return its id.

    Args:
        batch: A boto3 client without retries, created with `UNREPEATED`.
        request: Arguments of `submit_job`; its `jobName` is the prefix of the job's name.
        sleep: Waits a number of seconds.

    Raises:
        ClientError: Batch rejected the job.
        HTTPClientError: there was no response, and the job does not exist.
    """
    named = {**request, "jobName": f"{request['jobName']}-{secrets.token_hex(_SUFFIX_BYTES)}"}
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return batch.submit_job(**named)["jobId"]
        except ClientError as error:
            if attempt == ATTEMPTS or not says_nothing_of_the_request(error):
                raise
        except HTTPClientError:
            found = _found(batch, named)
            if found:
                return found
            if attempt == ATTEMPTS:
                raise
        sleep(2.0**attempt)
    raise AssertionError("the last attempt returns or raises")


def _found(batch: Any, request: Mapping[str, Any]) -> str:
    """Return the id of the job of a request; empty if it does not exist.

    https://docs.aws.amazon.com/batch/latest/APIReference/API_ListJobs.html (`filters`, `JOB_NAME`)
    """
    named = {"name": "JOB_NAME", "values": [request["jobName"]]}
    jobs = batch.list_jobs(jobQueue=request["jobQueue"], filters=[named])["jobSummaryList"]
    return next((job["jobId"] for job in jobs), "")


def submit_job(
    plan: BatchPlan, submission: BatchSubmission, *, target: Target, wait: JobWait | None
) -> None:
    """Submit the job, print its id on standard output, and say how to follow it.

    Raises:
        WrongUseError: there are no credentials.
        StackLockedError: another command holds the lock of the stack.
        CommandError: Batch rejects the job or, with `--wait`, the job fails or does not start.
    """
    # While the stack changes, the queue and the definition may change as well.
    refuse_occupied(target)
    with target.access():
        batch = target.client("batch")
        _require_secrets(batch, submission, target)
        job_id = _submit(submission, target)
        console.answer(job_id)
        console.progress(f"submitted {submission.description}")
        if not target.is_sandbox:
            cancel = f"{target.command('cancel')} {job_id}"
            follow = _follow(plan.region, job_id, submission)
            logs = f"{target.command('logs')} {job_id} --follow"
            console.progress("\n  ".join([*follow, logs, cancel]))
        if wait:
            log = MainLog(target, submission, wait.show)
            try:
                with going_on(target, job_id):
                    wait_for(
                        batch,
                        job_id,
                        lambda job: _explain(job, target, plan, submission),
                        wait,
                        log,
                        find_error=log.error_of,
                    )
            finally:
                if target.is_sandbox and not log.has_printed:
                    console.progress(NO_CONTAINERS)


def _explain(
    job: Mapping[str, Any],
    target: Target,
    plan: BatchPlan,
    submission: BatchSubmission,
) -> list[str]:
    """Return why a job waits; what cannot be queried is reported instead."""
    name = submission.compute_environment
    capacities = [each.capacity for each in plan.compute_environments if each.pool == name]
    single = [each.reservation_id for each in capacities if each.reservation_id]
    members = [m.rpartition("/")[2] for each in capacities for m in each.reservation_group_members]
    try:
        queued = read_queued_job(
            target.client("batch"),
            target.client("ec2"),
            job,
            environment=name,
            stack=plan.name,
            reservation_ids=[*single, *members],
        )
    except (BotoCoreError, ClientError) as error:
        return [f"the reason cannot be read from the account: {error}"]
    return why_it_waits(queued)


def _require_secrets(batch: Any, submission: BatchSubmission, target: Target) -> None:
    """Refuse a job with secrets that it would not get, or that do not exist.

    What cannot be read is no reason: the role of the job may read what its user may not.

    Raises:
        CommandError: the definition in the account has other secrets, or one does not exist.
    """
    if not submission.secrets:
        return
    name = submission.request["jobDefinition"]
    try:
        pages = batch.get_paginator("describe_job_definitions").paginate(
            jobDefinitionName=name, status="ACTIVE"
        )
        definitions = [each for page in pages for each in page["jobDefinitions"]]
    except (BotoCoreError, ClientError):
        return
    newest = max(definitions, key=lambda each: each["revision"], default=None)
    if newest is None:
        return  # Batch says so
    if submission.secrets.items() - _secrets_of(newest).items():
        raise failures.CommandError(
            f"the job definition {name} in the account does not have the secrets of the stack "
            f"file yet; deploy it: {target.command('up')}"
        )
    account_id = newest["jobDefinitionArn"].split(":")[4]
    for variable, text in submission.secrets.items():
        if _is_missing(SecretArn(text), account_id, target):
            raise failures.CommandError(
                f"the secret of {variable} does not exist: {text}; create it, or correct "
                "`secrets` of the job definition in the stack file"
            )


def _secrets_of(definition: Mapping[str, Any]) -> dict[str, str]:
    ranges = (definition.get("nodeProperties") or {}).get("nodeRangeProperties") or ()
    several = [each["container"] for each in ranges]
    containers = several or [definition.get("containerProperties") or {}]
    listed = [each for container in containers for each in container.get("secrets") or ()]
    return {each["name"]: each["valueFrom"] for each in listed}


def _is_missing(secret: SecretArn, account_id: str, target: Target) -> bool:
    """Return whether AWS says that a secret does not exist, without reading its value.

    https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_DescribeSecret.html and
    https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_DescribeParameters.html:
    parameters of other accounts are listed elsewhere
    """
    client = target.account.client(secret.service, secret.region)
    try:
        if secret.service == "ssm":
            name = secret.parameter
            names = [name] if "/" in name[1:] else [name, name[1:]]
            named = {"Key": "Name", "Option": "Equals", "Values": names}
            listed = client.describe_parameters(ParameterFilters=[named])
            return secret.account_id == account_id and not listed["Parameters"]
        if secret.service == "secretsmanager":
            client.describe_secret(SecretId=secret.arn)
    except ClientError as error:
        return error.response["Error"]["Code"] == "ResourceNotFoundException"
    except BotoCoreError:
        return False
    return False


def _submit(submission: BatchSubmission, target: Target) -> str:
    try:
        return submit_once(target.client("batch", UNREPEATED), submission.request)
    except (BotoCoreError, ClientError) as error:
        command = target.command("up")
        raise failures.CommandError(
            f"Batch rejected the job: {explained('batch:SubmitJob', error)}\n"
            f"  if the stack is not deployed yet:  {command}"
        ) from error


def _follow(region: str, job_id: str, submission: BatchSubmission) -> list[str]:
    """Return the commands that show the job's state and the main node's log."""
    main = main_node(job_id, submission)
    describe = f"aws batch describe-jobs --region {region} --output text"
    stream = f"$({describe} --jobs '{main}' --query 'jobs[0].container.logStreamName')"
    return [
        "commands for this job:",
        f"{describe} --jobs {job_id} --query 'jobs[0].[status,statusReason]'",
        f'aws logs tail {LOG_GROUP} --region {region} --follow --log-stream-names "{stream}"',
    ]
