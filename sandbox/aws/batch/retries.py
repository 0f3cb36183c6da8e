"""Whether Batch starts a job again after an attempt.

https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html
https://docs.aws.amazon.com/batch/latest/APIReference/API_EvaluateOnExit.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_retried(
    strategy: Mapping[str, Any], attempts: int, *, exit_code: int | None, reason: str
) -> bool:
    """Return whether a failed attempt is followed by another one.

    The first rule whose conditions all match decides; if none matches, the job is retried.

    Args:
        strategy: The `retryStrategy` of the job.
        attempts: Number of attempts so far.
        exit_code: Exit code of the container; None if it has none.
        reason: Why the attempt ended.
    """
    if attempts >= strategy["attempts"]:
        return False
    found = {
        "onExitCode": "" if exit_code is None else str(exit_code),
        "onReason": reason if exit_code is None else "",
        "onStatusReason": reason,
    }
    for rule in strategy["evaluateOnExit"]:
        if all(_matches(rule[key], value) for key, value in found.items() if rule.get(key)):
            return rule["action"].upper() == "RETRY"
    return True


def _matches(pattern: str, value: str) -> bool:
    beginning = pattern.removesuffix("*")
    return value.startswith(beginning) if beginning != pattern else value == pattern
