"""How long `up` waits for nodes and plugins after the engine has finished."""

from __future__ import annotations

import os
from collections.abc import Mapping

from trainyard.cli import failures

VARIABLE = "TRAINYARD_WAIT_SECONDS"
"""Environment variable for the wait; in the sandbox it also limits the providers."""
SANDBOX_SECONDS = 120.0
ACCOUNT_SECONDS = 1200.0
"""Time for instances in service to join; p5 instances take several minutes to start."""


def wait_seconds(*, sandbox: bool, environment: Mapping[str, str] | None = None) -> float:
    """Return how long to wait.

    Raises:
        WrongUseError: the variable is set, but is not a number of seconds.
    """
    given = (os.environ if environment is None else environment).get(VARIABLE, "")
    if not given:
        return SANDBOX_SECONDS if sandbox else ACCOUNT_SECONDS
    if not given.isdecimal():
        raise failures.WrongUseError(
            f"{VARIABLE} is {given!r}; it must be a whole number of seconds, such as 1800"
        )
    return float(given)
