"""Settings of a sandbox for the stack that is about to run in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.state import PARALLELCLUSTER_PYTHON, SandboxDirectory
from tests.tools.cli.conftest import STATUS, record_plugins
from tools.cli import sandbox_session, sandboxes
from tools.cli.failures import CommandError
from tools.cli.kubeconfig import usable_kubeconfig

PYTHON = Path("/cache/parallelcluster/bin/python")


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SandboxDirectory:
    """A running sandbox that was started with its own program."""
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path))
    monkeypatch.setattr(SandboxDirectory, "read_status", lambda _: STATUS)
    monkeypatch.setattr("tools.cli.sandbox_session.parallelcluster_python", lambda _report: PYTHON)
    directory = sandbox_session.sandbox_directory()
    directory.programs_file.write_text('{"kubectl": ["/bin/kubectl"]}')
    record_plugins(tmp_path)
    return directory


def started(*, with_parallelcluster: bool) -> None:
    found = sandbox_session.started_sandbox(print, with_parallelcluster=with_parallelcluster)
    assert found.status == STATUS


def test_a_running_sandbox_is_given_parallelcluster_for_its_first_such_stack(running) -> None:
    started(with_parallelcluster=True)
    assert running.program(PARALLELCLUSTER_PYTHON) == [str(PYTHON)]
    assert running.program("kubectl") == ["/bin/kubectl"]


def test_it_is_given_once(running, monkeypatch: pytest.MonkeyPatch) -> None:
    started(with_parallelcluster=True)
    monkeypatch.setattr(SandboxDirectory, "give", None)
    started(with_parallelcluster=True)
    assert running.program(PARALLELCLUSTER_PYTHON) == [str(PYTHON)]


def test_a_stack_of_eks_makes_no_environment_of_parallelcluster(running) -> None:
    started(with_parallelcluster=False)
    assert running.program(PARALLELCLUSTER_PYTHON) is None


def test_a_controller_is_built_for_the_first_stack_that_asks_for_it(running, monkeypatch) -> None:
    monkeypatch.setattr(
        sandbox_session, "ensure_controller", lambda name, _report: [f"/cache/{name}"]
    )
    started(with_parallelcluster=False)
    assert running.program("jobset") is None
    sandbox_session.started_sandbox(print, controllers=["jobset"])
    assert running.program("jobset") == ["/cache/jobset"]


def test_the_account_of_an_earlier_version_is_not_gone_on_with(running) -> None:
    """A stand-in created its resources, and the real provider cannot read their state."""
    (running.path / "plugins.json").unlink()
    with pytest.raises(CommandError, match=r"start a new one: \./trainyard sandbox reset"):
        started(with_parallelcluster=False)


def test_other_plugins_than_those_that_made_the_account_are_refused(running) -> None:
    with pytest.raises(CommandError, match=r"another plugin for aws.*sandbox stop"):
        sandbox_session.started_sandbox(print, plugins={"aws": Path("/opt/mine")})


def test_the_status_says_which_plugins_run(running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandboxes, "_faults", list)
    assert sandboxes.describe()["plugins"] == ["aws 7.0.0: official release"]


def kubeconfig(**user: Any) -> str:
    return json.dumps({"clusters": [], "users": [{"name": "aws", "user": user}]})


def test_programs_outside_of_the_engine_find_the_sandboxs_aws_by_its_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path))
    asking = kubeconfig(exec={"command": "aws", "args": ["eks", "get-token"]})
    (user,) = json.loads(usable_kubeconfig(asking, sandbox=True))["users"]
    assert user["user"]["exec"] == {
        "command": str(tmp_path / "bin" / "aws"),
        "args": ["eks", "get-token"],
    }
    assert usable_kubeconfig(asking, sandbox=False) == asking
    with_token = kubeconfig(token="t")
    assert usable_kubeconfig(with_token, sandbox=True) == with_token
