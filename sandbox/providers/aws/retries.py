"""What the official provider tries again, and for how long, on the sandbox's scale of time.

One request: the provider leaves 25 attempts to the AWS SDK for Go v2, with its standard retryer,
an exponential backoff of at most 20 s, and no limit on retries besides.
A network error "connection refused" or "no such host" ends after the tenth attempt.
Sources:
    hashicorp/terraform-provider-aws, `internal/provider/sdkv2/provider.go` (`MaxRetries: 25` where
    `max_retries` is not given, for which `pulumi_aws/provider.py` has no default of its own)
    hashicorp/aws-sdk-go-base, `aws_config.go` (`resolveRetryer`, `networkErrorShortcutter`)
    aws/aws-sdk-go-v2, `aws/retry/standard.go` (codes, statuses), `aws/retry/jitter_backoff.go`
    hashicorp/terraform-provider-aws, `internal/service/ec2/service_package.go` (capacity),
    `internal/service/logs/service_package.go` (limits)

A new object: in EC2 and IAM what was just made is looked for again for two minutes where it is not
found, elsewhere a waiter polls 20 times; a call that names a new role is made again as long.
Sources: hashicorp/terraform-provider-aws, `internal/service/iam/instance_profile.go`
(`propagationTimeout`, `RetryWhenNotFound`), `internal/service/ec2/wait.go`
(`ec2PropagationTimeout`), `internal/service/eks/cluster.go` (`resourceClusterCreate`),
hashicorp/terraform-plugin-sdk, `helper/retry/state.go` (`NotFoundChecks`).
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from typing import Any, TypeVar

from botocore.exceptions import (
    ClientError,
    ConnectionError,  # noqa: A004 - botocore's name
    EndpointConnectionError,
    HTTPClientError,
)

Result = TypeVar("Result")

ATTEMPTS = 25
NETWORK_ATTEMPTS = 10
"""Where nobody listens: `MaxNetworkRetryCount` is 9, after which one more request is made."""
MAXIMUM_BACKOFF_SECONDS = 20.0
PROPAGATION_SECONDS = 120.0
TIME_SCALE = 1 / 400
"""Seconds here for each second of the official provider: 25 throttled attempts take some seven
minutes there and one second here."""
NOT_FOUND_CHECKS = 20
"""Polls of a waiter that may find nothing (`NotFoundChecks` of `retry.StateChangeConf`)."""

_GROWING_ATTEMPTS = int(math.log2(MAXIMUM_BACKOFF_SECONDS))
NO_ANSWER = (ConnectionError, HTTPClientError)
"""Errors of botocore where no answer came."""
_STATUSES = frozenset({500, 502, 503, 504})
_CODES = frozenset(
    {
        "BandwidthLimitExceeded",
        "EC2ThrottledException",
        "LimitExceededException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "RequestTimeout",
        "RequestTimeoutException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionInProgressException",
    }
)


def retry_as_the_provider(client: Any, wait: Callable[[float], float] | None = None) -> None:
    """Let a boto3 client try again as the official provider does, instead of its own way.

    Args:
        client: The client.
        wait: From the provider's delay in seconds to ours; scaled where it is not given.
    """
    service = client.meta.service_model.service_id.hyphenize()
    events, scaled = client.meta.events, wait or (lambda seconds: seconds * TIME_SCALE)
    events.unregister(f"needs-retry.{service}", unique_id=f"retry-config-{service}")

    def delay(
        response: Any, attempts: int, caught_exception: Exception | None, **_: Any
    ) -> float | None:
        answer = response[1] if response is not None else {}
        status = response[0].status_code if response is not None else 0
        if not is_retried(service, status, answer, caught_exception):
            return None
        if attempts >= most_attempts(caught_exception):
            return None
        return scaled(backoff_seconds(attempts))

    events.register(f"needs-retry.{service}", delay)


def most_attempts(error: Exception | None) -> int:
    """Return how often a request is made that ends with this error; None: with an answer."""
    return NETWORK_ATTEMPTS if isinstance(error, EndpointConnectionError) else ATTEMPTS


def is_retried(
    service: str, status: int, answer: dict[str, Any], error: Exception | None = None
) -> bool:
    """Return whether the official provider makes a request again.

    Args:
        service: botocore's id of the service, hyphenated: `ec2`, `cloudwatch-logs`.
        status: Of HTTP; 0 where no answer came.
        answer: The parsed answer.
        error: What happened instead of an answer.
    """
    if error is not None:
        return isinstance(error, NO_ANSWER)
    if status < 300:
        return False
    fault = answer.get("Error", {})
    code, message = fault.get("Code", ""), fault.get("Message", "")
    if service == "cloudwatch-logs" and "Resource limit exceeded" in message:
        return False
    is_capacity = service == "ec2" and code == "InsufficientInstanceCapacity"
    return is_capacity or status in _STATUSES or code in _CODES


def backoff_seconds(attempt: int) -> float:
    """Return the provider's delay after a failed attempt; the first is 1."""
    # As ExponentialJitterBackoff.BackoffDelay: anything up to that, and 20 s from the fifth on.
    if attempt > _GROWING_ATTEMPTS:
        return MAXIMUM_BACKOFF_SECONDS
    return random.random() * 2.0**attempt  # noqa: S311 - jitter, no secret


def until_propagated(do: Callable[[], Result], again: Callable[[Exception], bool]) -> Result:
    """Return what `do` returns; where it raises what `again` accepts, do it again for a while.

    Raises:
        Exception: what `do` raised last.
    """
    for _ in range(NOT_FOUND_CHECKS):
        try:
            return do()
        except Exception as error:
            if not again(error):
                raise
        time.sleep(PROPAGATION_SECONDS * TIME_SCALE / NOT_FOUND_CHECKS)
    return do()


def says(code: str, *messages: str) -> Callable[[Exception], bool]:
    """Return a test for an AWS error of a code whose message holds one of some texts."""

    def test(error: Exception) -> bool:
        if not isinstance(error, ClientError):
            return False
        fault = error.response.get("Error", {})
        said = fault.get("Message", "")
        return fault.get("Code") == code and any(message in said for message in messages)

    return test
