"""What `job` is asked for, and how `job` and `run` wait for it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from trainyard.cli import console, failures
from trainyard.components.secret_text import is_secret_value
from trainyard.workspace.target import Account, Target

POLL_SECONDS = 5
_SANDBOX_POLL_SECONDS = 1
"""The sandbox has no limits of requests, and its jobs are short."""
START_LIMIT_MINUTES = 30.0
"""Default time that a job may wait for its nodes."""
LOST_MINUTES = 10.0
"""Time for which a state may be unreadable before the wait ends; the job runs on meanwhile."""
QUIET_SECONDS = 60.0
"""Time without an explanation by the scheduler after which the cause is looked up."""
NO_CONTAINERS = (
    "the sandbox runs no containers, so they succeed and print nothing; `./trainyard sandbox "
    "faults FILE` gives them a log, an exit code or a lost node (docs/faults.md)"
)


@dataclass(frozen=True, slots=True)
class JobWait:
    """How to wait for a job."""

    start_limit_minutes: float = START_LIMIT_MINUTES
    """Time until it must run; the job itself limits the run time."""
    poll_seconds: float = POLL_SECONDS
    """Time between two polls."""
    pause: Callable[[float], object] = time.sleep
    """Sleeps between two polls."""
    now: Callable[[], float] = time.monotonic
    """Seconds on a monotonic clock."""
    show: Callable[[str], object] = console.answer
    """Prints lines of the log of the job."""
    ran_on: Callable[[Iterable[str]], object] = frozenset
    """Receives the names of the nodes of the job's pods, when it has ended. EKS."""


_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Seen = TypeVar("Seen")


def look_again(
    look: Callable[[], Seen], wait: JobWait, transient: Callable[[Exception], str]
) -> Seen:
    """Return the result of a look at a job or a cluster; look again after a transient error.

    A wait takes hours, and one failed request must not end it.

    Args:
        look: Reads the state, and changes nothing.
        wait: The clock.
        transient: Returns the text of a transient error; empty for any other error.

    Raises:
        Exception: that of `look`, if it is not transient, or lasts longer than `LOST_MINUTES`.
    """
    began, told = wait.now(), False
    while True:
        try:
            return look()
        except Exception as error:
            said = transient(error)
            if not said or wait.now() - began >= LOST_MINUTES * 60:
                raise
        if not told:
            told = True
            console.progress(f"the state cannot be read now, and is read again: {said}")
        wait.pause(wait.poll_seconds)


@contextmanager
def going_on(target: Target, *names: str) -> Iterator[None]:
    """Say what goes on when the user interrupts the wait for jobs.

    Args:
        target: The stack and its account.
        names: The jobs, as `logs` and `cancel` take them.

    Raises:
        CancelledError: the user has interrupted the wait.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        commands = [target.command("jobs")]
        for name in names:
            commands += [f"{target.command('logs', name)} --follow", target.command("cancel", name)]
        raise failures.CancelledError(
            f"only the wait has ended: {' and '.join(names)} {'go' if names[1:] else 'goes'} on; "
            "commands for it:" + "".join(f"\n  {each}" for each in commands)
        ) from error


@dataclass(frozen=True, slots=True)
class RequestedJob:
    """The arguments of `job`, and those of `run` beside the program."""

    name: str
    """One of the jobs of the scheduler, or that of the program."""
    nodes: int | None
    """Number of nodes; None for the default of the scheduler."""
    options: Mapping[str, Any]
    """Values of the options of the scheduler, by option; None if not given."""
    submit: bool
    """Whether to submit the job; else it is printed or written."""
    wait: JobWait | None
    """How to wait for its end; None to return at once."""


def refuse(given: Mapping[str, object], reason: str) -> None:
    """Refuse options that do not apply.

    Raises:
        WrongUseError: one of them has a value.
    """
    wrong = [option for option, value in given.items() if value is not None]
    if wrong:
        raise failures.WrongUseError(f"{reason}: omit {' and '.join(wrong)}")


def environment_of(
    settings: Sequence[str], reserved_prefix: str = "", *, caller: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the variables of `--env NAME=VALUE` and `--env NAME`, by name.

    A value that is not given is that of the caller's environment, so that it is not in the list of
    processes of this machine. Messages have names only.

    Args:
        settings: The options.
        reserved_prefix: Prefix of names that the scheduler reserves; empty for none.
        caller: The environment of the caller; None for that of this process.

    Raises:
        WrongUseError: a setting is invalid, or the scheduler reserves the variable.
    """
    found = os.environ if caller is None else caller
    named = {setting.partition("=")[0]: setting for setting in settings}
    wrong = [
        setting
        for name, setting in named.items()
        if not _VARIABLE.fullmatch(name) or (reserved_prefix and name.startswith(reserved_prefix))
    ]
    if wrong:
        rule = f", and a name that does not begin with {reserved_prefix}" if reserved_prefix else ""
        raise failures.WrongUseError(
            f"a variable requires NAME=VALUE, or NAME for the value in your environment{rule}: "
            + ", ".join(map(_shown_name, wrong))
        )
    missing = [name for name, each in named.items() if "=" not in each and name not in found]
    if missing:
        raise failures.WrongUseError(
            f"your environment has no {', '.join(missing)}; export it, or write NAME=VALUE"
        )
    return {
        name: each.partition("=")[2] if "=" in each else found[name] for name, each in named.items()
    }


def tell_plain_secrets(environment: Mapping[str, str], instead: str) -> None:
    """Say which variables look like secrets: their values are part of the job.

    Args:
        environment: The variables.
        instead: How a job of this kind gets a secret.
    """
    named = [name for name, value in environment.items() if value and is_secret_value(name, value)]
    if named:
        console.progress(
            f"{', '.join(named)} looks like a secret, and is a plain value of the job, which "
            f"everybody who may read the job sees; {instead} (docs/security.md)"
        )


def _shown_name(setting: str) -> str:
    """Return the name in a wrong setting; without a value, it can be one that is a secret."""
    name, separator, _ = setting.partition("=")
    is_name = separator or re.fullmatch(r"[A-Z_][A-Z0-9_]*", name)
    return name if is_name else "a setting that is not shown"


def requested_wait(
    account: Account, *, submit: bool, wait: bool, minutes: float | None
) -> JobWait | None:
    """Return how to wait for the options of `job`; None without `--wait`.

    Raises:
        WrongUseError: an option lacks the one that it belongs to.
    """
    if wait and not submit:
        raise failures.WrongUseError("--wait requires --submit")
    if minutes is not None and not wait:
        raise failures.WrongUseError("--wait-minutes requires --wait")
    limit = START_LIMIT_MINUTES if minutes is None else minutes
    poll_seconds = _SANDBOX_POLL_SECONDS if account.is_sandbox else POLL_SECONDS
    return JobWait(start_limit_minutes=limit, poll_seconds=poll_seconds) if wait else None
