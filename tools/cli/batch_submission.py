"""Submit a job to Batch exactly once, even if the response is lost.

`SubmitJob` has no client token
(https://docs.aws.amazon.com/batch/latest/APIReference/API_SubmitJob.html), and boto3 retries a
request without a response. Therefore the request is retried only if Batch said that it did nothing.
If Batch did not respond, the job is looked up by its unique name.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

from botocore.config import Config
from botocore.exceptions import ClientError, HTTPClientError

from components.account.call_failures import says_nothing_of_the_request

ATTEMPTS = 4
UNREPEATED = Config(retries={"total_max_attempts": 1}, connect_timeout=10, read_timeout=30)
"""Client configuration without retries by boto3."""


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
    named = {**request, "jobName": f"{request['jobName']}-{secrets.token_hex(4)}"}
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
