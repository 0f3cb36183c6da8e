"""How long `up` waits for nodes and plugins after the engine has finished."""

from __future__ import annotations

import os
from collections.abc import Mapping

from trainyard.cli import failures
from trainyard.workspace.target import Account

VARIABLE = "TRAINYARD_WAIT_SECONDS"
"""Environment variable for the wait; in the sandbox it also limits the providers."""


def wait_seconds(account: Account, *, environment: Mapping[str, str] | None = None) -> float:
    """Return how long to wait.

    Raises:
        WrongUseError: the variable is set, but is not a number of seconds.
    """
    given = (os.environ if environment is None else environment).get(VARIABLE, "")
    if not given:
        return account.join_seconds
    if not given.isdecimal():
        raise failures.WrongUseError(
            f"{VARIABLE} is {given!r}; it must be a whole number of seconds, such as 1800"
        )
    return float(given)
