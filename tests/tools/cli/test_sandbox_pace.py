"""How long the resources of a sandbox take is said once, and known to every later command."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.latency.pace import VARIABLE
from sandbox.state import SandboxDirectory, SandboxStatus
from tests.tools.cli.conftest import AWS, STATUS, record_plugins
from tools.cli import sandbox_session, sandbox_status
from tools.cli.sandbox_session import RunningSandbox, started_sandbox


@pytest.fixture(autouse=True)
def answers(monkeypatch, tmp_path) -> list[SandboxStatus | None]:
    """What the sandbox says of itself: that it runs, or None."""
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


def pace(sandbox: RunningSandbox) -> str | None:
    """Return what the providers of the sandbox have in their environment."""
    project = sandbox_session.project_of(sandbox.directory)
    return sandbox.environment(Path("/engine"), project).get(VARIABLE)


def test_a_sandbox_takes_no_time_that_was_not_asked_for():
    assert pace(started_sandbox(print)) is None


def test_a_running_sandbox_takes_a_pace_and_keeps_it():
    started_sandbox(print, latency=0.25)
    assert pace(started_sandbox(print)) == "0.25"


def test_zero_ends_it():
    started_sandbox(print, latency=0.25)
    assert pace(started_sandbox(print, latency=0)) is None


def test_a_new_sandbox_has_the_pace_that_it_is_started_with(answers):
    answers.append(None)
    assert pace(started_sandbox(print, latency=0.1)) == "0.1"


def test_a_new_sandbox_has_not_the_pace_of_the_one_before(answers):
    started_sandbox(print, latency=0.25)
    answers.append(None)
    assert pace(started_sandbox(print)) is None


def test_the_environment_of_one_command_goes_before_it(monkeypatch):
    started_sandbox(print, latency=0.25)
    monkeypatch.setenv(VARIABLE, "0.5")
    assert pace(started_sandbox(print)) == "0.5"


def test_the_status_says_it(monkeypatch):
    monkeypatch.setattr(sandbox_status, "_faults", list)
    assert sandbox_status.describe()["latency"] == ""
    started_sandbox(print, latency=0.25)
    assert sandbox_status.describe()["latency"] == "0.25 of AWS's time"
