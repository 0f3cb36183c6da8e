"""The sandbox's account as the provider's function sees it.

Region, endpoint and credentials are in the function's environment, as on AWS. Transient errors
(throttling, 5xx, lost connections) are retried, as ParallelCluster's function and CloudFormation's
handlers do, which treat these errors as retriable.
https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-test-contract-errors.html
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from trainyard.sandbox.access import Endpoint

Clients = Callable[[str], Any]
"""Returns the boto3 client of a service."""
ATTEMPTS = 6
"""Attempts of one call, within half a minute; CloudFormation repeats calls for longer."""


@cache
def client(service: str) -> Any:
    """Return the boto3 client of a service."""
    retries: Any = {"mode": "standard", "total_max_attempts": ATTEMPTS}
    return boto3.client(service, config=Config(retries=retries))


def of_this_function() -> Endpoint:
    """Return the account's endpoint, from the environment."""
    return Endpoint(os.environ["AWS_ENDPOINT_URL"], os.environ["AWS_ACCESS_KEY_ID"])
