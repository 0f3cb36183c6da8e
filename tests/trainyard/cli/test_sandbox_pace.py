"""The pace of a sandbox's resources is set once: for its account and for later commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.support.sandbox_aws import Account
from tests.support.sandbox_here import AWS, record_sandbox, running_sandbox
from trainyard.commands import sandbox as sandboxes
from trainyard.components import clock
from trainyard.sandbox.aws.transitions import TRANSITIONS
from trainyard.sandbox.engine import Plugin
from trainyard.sandbox.latency.pace import VARIABLE
from trainyard.sandbox.state import SandboxDirectory
from trainyard.sandboxes import session as sandbox_session
from trainyard.sandboxes.session import RunningSandbox, SandboxPrograms, started_sandbox


class Programs(SandboxPrograms):
    """Programs that are there; meanwhile, another process starts the sandbox."""

    def __init__(self, directory: Path, account: Account) -> None:
        self.directory, self.account = directory, account

    def plugins(self, *_: object) -> tuple[Plugin, ...]:
        return (AWS,)

    def kubernetes(self, *_: object) -> dict[str, list[str]]:
        record_sandbox(self.directory, self.account.server)
        return {"kubectl": ["kubectl"]}


@pytest.fixture
def directory(tmp_path: Path) -> SandboxDirectory:
    return SandboxDirectory(tmp_path)


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Account]:
    """The account of a running sandbox."""
    monkeypatch.delenv(VARIABLE, raising=False)
    with running_sandbox(tmp_path) as account:
        yield account


@pytest.fixture
def started(account: Account, directory: SandboxDirectory) -> Callable[..., RunningSandbox]:
    """Start the sandbox, or find the running one."""
    return partial(started_sandbox, print, programs=Programs(directory.path, account))


def pace(sandbox: RunningSandbox) -> str | None:
    """Return the setting in the environment of the sandbox's providers."""
    project = sandbox_session.project_of(sandbox.directory)
    return sandbox.environment(Path("/engine"), project).get(VARIABLE)


def test_a_sandbox_takes_no_time_that_was_not_asked_for(started):
    assert pace(started()) == ""
    assert TRANSITIONS.scale == 0


def test_a_running_sandbox_takes_a_pace_and_keeps_it(started):
    started(latency=0.25)
    assert pace(started()) == "0.25"
    assert TRANSITIONS.scale == 0.25


def test_zero_ends_it(started):
    started(latency=0.25)
    assert pace(started(latency=0)) == ""
    assert TRANSITIONS.scale == 0


def test_a_new_sandbox_has_the_pace_that_it_is_started_with(started, directory):
    directory.daemon_file.unlink()
    assert pace(started(latency=0.1)) == "0.1"
    assert TRANSITIONS.scale == 0.1


def test_a_new_sandbox_has_not_the_pace_of_the_one_before(started, directory):
    started(latency=0.25)
    directory.daemon_file.unlink()
    assert pace(started()) == ""
    assert TRANSITIONS.scale == 0


def test_the_environment_of_one_command_does_not_change_it(started, monkeypatch):
    """The account would not have the setting."""
    monkeypatch.setenv(VARIABLE, "0.5")
    assert pace(started()) == ""


def test_the_status_says_it(started):
    assert sandboxes.describe()["latency"] == ""
    started(latency=0.25)
    assert sandboxes.describe()["latency"] == "0.25 of AWS's time"


def test_every_process_has_the_clock_of_the_account(started):
    sandbox_session.advance_clock(49)
    assert started().aws_environment()[clock.VARIABLE] == "176400"
