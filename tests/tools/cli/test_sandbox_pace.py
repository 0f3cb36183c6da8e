"""The pace of a sandbox's resources is set once: for its account and for later commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from components import clock
from sandbox.latency.pace import VARIABLE
from sandbox.state import SandboxDirectory, SandboxStatus
from tests.tools.cli.conftest import AWS, STATUS, record_plugins
from tools.cli import sandbox_session, sandboxes
from tools.cli.sandbox_session import RunningSandbox, started_sandbox


@pytest.fixture(autouse=True)
def answers(monkeypatch, tmp_path) -> list[SandboxStatus | None]:
    """The status of the sandbox: running, or None."""
    said: list[SandboxStatus | None] = [STATUS]
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(SandboxDirectory, "read_status", lambda _: said[-1])
    monkeypatch.setattr(SandboxDirectory, "start", lambda *_, **__: STATUS)
    record_plugins(tmp_path)
    monkeypatch.setattr(sandbox_session, "ensure_pulumi", lambda _: None)
    monkeypatch.setattr(sandbox_session, "ensure_plugins", lambda *_: (AWS,))
    monkeypatch.setattr(sandbox_session, "ensure_kubernetes", lambda _: {"kubectl": ["kubectl"]})
    return said


@pytest.fixture(autouse=True)
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The settings that the account received, in order."""
    told: list[str] = []

    def answer(_: SandboxStatus, method: str, path: str) -> dict[str, float]:
        if method == "POST":
            told.append(path)
        return {"ahead_seconds": 176400}

    monkeypatch.setattr(sandbox_session, "_ask", answer)
    return told


def pace(sandbox: RunningSandbox) -> str | None:
    """Return the setting in the environment of the sandbox's providers."""
    project = sandbox_session.project_of(sandbox.directory)
    return sandbox.environment(Path("/engine"), project).get(VARIABLE)


def test_a_sandbox_takes_no_time_that_was_not_asked_for(told):
    assert pace(started_sandbox(print)) == ""
    assert not told


def test_a_running_sandbox_takes_a_pace_and_keeps_it(told):
    started_sandbox(print, latency=0.25)
    assert pace(started_sandbox(print)) == "0.25"
    assert told == ["latency?scale=0.25"]


def test_zero_ends_it(told):
    started_sandbox(print, latency=0.25)
    assert pace(started_sandbox(print, latency=0)) == ""
    assert told[-1] == "latency?scale=0"


def test_a_new_sandbox_has_the_pace_that_it_is_started_with(answers, told):
    answers.append(None)
    assert pace(started_sandbox(print, latency=0.1)) == "0.1"
    assert told == ["latency?scale=0.1"]


def test_a_new_sandbox_has_not_the_pace_of_the_one_before(answers):
    started_sandbox(print, latency=0.25)
    answers.append(None)
    assert pace(started_sandbox(print)) == ""


def test_the_environment_of_one_command_does_not_change_it(monkeypatch):
    """The account would not have the setting."""
    monkeypatch.setenv(VARIABLE, "0.5")
    assert pace(started_sandbox(print)) == ""


def test_the_status_says_it(monkeypatch):
    monkeypatch.setattr(sandboxes, "_faults", list)
    assert sandboxes.describe()["latency"] == ""
    started_sandbox(print, latency=0.25)
    assert sandboxes.describe()["latency"] == "0.25 of AWS's time"


def test_every_process_has_the_clock_of_the_account():
    sandbox = started_sandbox(print)
    assert sandbox.aws_environment()[clock.VARIABLE] == "176400"
