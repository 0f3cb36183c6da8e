"""Messages for failed AWS calls, with the fix."""

from __future__ import annotations

from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,  # noqa: A004 - botocore's name
    HTTPClientError,
    SSOError,
)

from trainyard.components.account.error_codes import BROKEN, EXPIRED, NOT_ACCEPTED, THROTTLED

CLIENT = Config(
    retries={"mode": "standard", "total_max_attempts": 4}, connect_timeout=10, read_timeout=30
)
"""Four attempts with backoff for transient errors (throttling, 5xx, lost connections), in seconds;
then the error is reported. https://docs.aws.amazon.com/boto3/latest/guide/retries.html"""

UNREPEATED = Config(retries={"total_max_attempts": 1}, connect_timeout=10, read_timeout=30)
"""One attempt, for calls that must not happen twice and have no client token."""

_LOG_IN = "log in again (`aws sso login`, or new AWS_ACCESS_KEY_ID and AWS_SESSION_TOKEN)"


def says_nothing_of_the_request(error: ClientError) -> bool:
    """Return whether an error is about the caller or the service, not about the request."""
    code = error.response.get("Error", {}).get("Code", "")
    return code in EXPIRED | NOT_ACCEPTED | THROTTLED | BROKEN


def is_transient(error: ClientError | BotoCoreError) -> bool:
    """Return whether the same request may succeed later: AWS throttles it or is not available."""
    if isinstance(error, ClientError):
        code = error.response.get("Error", {}).get("Code", "")
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return code in THROTTLED | BROKEN or status >= 500
    return isinstance(error, ConnectionError | HTTPClientError)


def explained(call: str, error: ClientError | BotoCoreError) -> str:
    """Return one sentence about a failed call, with the fix if known.

    Args:
        call: `service:Operation`.
        error: The boto3 exception.
    """
    if isinstance(error, ClientError):
        return _refused(call, error)
    if isinstance(error, SSOError):
        return f"{call}: the AWS session is over: {error}; {_LOG_IN}, then run the command again"
    if isinstance(error, ConnectionError):
        return (
            f"{call}: AWS cannot be reached: {error}; look at the network, at HTTPS_PROXY and at "
            "aws:region, then run the command again"
        )
    if isinstance(error, HTTPClientError):
        return f"{call}: AWS gave no answer: {error}; run the command again"
    return f"{call} failed: {error}"


def _refused(call: str, error: ClientError) -> str:
    code = error.response.get("Error", {}).get("Code", "")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code in EXPIRED:
        return f"{call}: the AWS credentials have expired ({code}); {_LOG_IN}"
    if code in NOT_ACCEPTED:
        return f"{call}: AWS does not accept the credentials ({code}); {_LOG_IN}"
    if code in THROTTLED:
        return (
            f"{call}: AWS throttles the calls of this account ({code}, after several "
            "attempts); run the command again in a minute"
        )
    if status >= 500:
        return (
            f"{call}: AWS returned an internal error ({code}, HTTP {status}, after several "
            "attempts); run the command again in a minute"
        )
    return f"{call} failed: {error}"
