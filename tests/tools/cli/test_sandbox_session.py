"""What a sandbox is given for the stack that is about to run in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.state import PARALLELCLUSTER_PYTHON, SandboxDirectory
from tests.tools.cli.conftest import STATUS
from tools.cli import sandbox_session
from tools.cli.session import usable_kubeconfig

PYTHON = Path("/cache/parallelcluster/bin/python")


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SandboxDirectory:
    """A sandbox that runs already, started with a program of its own."""
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path))
    monkeypatch.setattr(SandboxDirectory, "read_status", lambda _: STATUS)
    monkeypatch.setattr(
        "tools.parallelcluster.environment.parallelcluster_python", lambda _report: PYTHON
    )
    directory = sandbox_session.sandbox_directory()
    directory.programs_file.write_text('{"kubectl": ["/bin/kubectl"]}')
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
