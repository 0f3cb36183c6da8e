"""Give a job to Batch exactly once, also where its answer is lost.

`SubmitJob` takes no token that would make a second request the first one again
(https://docs.aws.amazon.com/batch/latest/APIReference/API_SubmitJob.html), and boto3 repeats a
request without an answer. So it is repeated only where Batch said that it did nothing; where Batch
said nothing at all, the job is looked for by its name, which no other job has.
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
"""Of the client: boto3 repeats nothing."""


def submit_once(
    batch: Any, request: Mapping[str, Any], sleep: Callable[[float], None] = time.sleep
) -> str:
    """Return the id of the job that a request makes, and that gets a name of its own.

    Args:
        batch: A boto3 client that repeats nothing, made with `UNREPEATED`.
        request: Arguments of `submit_job`; its `jobName` is what the job's name begins with.
        sleep: Waits some seconds.

    Raises:
        ClientError: Batch refuses the job.
        HTTPClientError: no answer came, and the job is not there.
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
    """Return the id of the job of a request; empty where there is none.

    https://docs.aws.amazon.com/batch/latest/APIReference/API_ListJobs.html (`filters`, `JOB_NAME`)
    """
    named = {"name": "JOB_NAME", "values": [request["jobName"]]}
    jobs = batch.list_jobs(jobQueue=request["jobQueue"], filters=[named])["jobSummaryList"]
    return next((job["jobId"] for job in jobs), "")
