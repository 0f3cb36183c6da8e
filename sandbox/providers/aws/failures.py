"""Errors of AWS in the words in which the engine passes them on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import ClientError

from sandbox.providers._protocol.servicer import ProviderError
from sandbox.providers.aws.retries import ATTEMPTS, NO_ANSWER, most_attempts


@contextmanager
def aws_words() -> Iterator[None]:
    """Turn an error of AWS, or of the way to it, into one for people.

    Raises:
        ProviderError: with the call, AWS's code and message, and whether it was tried to the end.
    """
    try:
        yield
    except ClientError as error:
        fault = error.response.get("Error", {})
        attempts = error.response.get("ResponseMetadata", {}).get("RetryAttempts", 0) + 1
        tried = _exhausted(attempts) if attempts >= ATTEMPTS else ""
        said = f"{tried}{fault.get('Code')}: {fault.get('Message')}"
        raise ProviderError(f"{error.operation_name}: {said}") from error
    except NO_ANSWER as error:
        said = f"{_exhausted(most_attempts(error))}request send failed: {error}"
        raise ProviderError(said) from error


def _exhausted(attempts: int) -> str:
    # As the SDK begins its last error: aws/aws-sdk-go-v2, `aws/retry/middleware.go`.
    return f"exceeded maximum number of attempts, {attempts}: "
