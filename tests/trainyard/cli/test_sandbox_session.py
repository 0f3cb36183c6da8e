"""Settings of a sandbox for the stack that is about to run in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.sandbox_here import running_sandbox
from trainyard.cli.failures import CommandError
from trainyard.commands import sandbox as sandboxes
from trainyard.sandbox.state import PARALLELCLUSTER_PYTHON, SLURM_PROGRAMS, SandboxDirectory
from trainyard.sandboxes import session as sandbox_session
from trainyard.sandboxes.session import SandboxPrograms
from trainyard.workspace.accounts import AwsAccount, SandboxAccount


class Programs(SandboxPrograms):
    """Programs that are there."""

    def parallelcluster(self, *_: object) -> list[str]:
        return ["/cache/parallelcluster/bin/python"]

    def controller(self, name: str, *_: object) -> list[str]:
        return [f"/cache/{name}"]

    def slurm(self, *_: object) -> list[str]:
        return ["/cache/slurm"]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[SandboxDirectory]:
    """A running sandbox that was started with its own program."""
    with running_sandbox(tmp_path):
        yield SandboxDirectory(tmp_path)


def started(*, with_parallelcluster: bool = False, **more: Any) -> None:
    sandbox_session.started_sandbox(
        print, with_parallelcluster=with_parallelcluster, programs=Programs(), **more
    )


def test_a_running_sandbox_is_given_parallelcluster_for_its_first_such_stack(running) -> None:
    started(with_parallelcluster=True)
    assert running.program(PARALLELCLUSTER_PYTHON) == ["/cache/parallelcluster/bin/python"]
    assert running.program("kubectl") == ["/bin/kubectl"]


def test_it_is_given_once(running) -> None:
    started(with_parallelcluster=True)
    written = running.programs_file.stat()
    started(with_parallelcluster=True)
    assert running.programs_file.stat() == written


def test_a_stack_of_eks_makes_no_environment_of_parallelcluster(running) -> None:
    started(with_parallelcluster=False)
    assert running.program(PARALLELCLUSTER_PYTHON) is None


def test_a_controller_is_built_for_the_first_stack_that_asks_for_it(running) -> None:
    started()
    assert running.program("jobset") is None
    started(controllers=["jobset"])
    assert running.program("jobset") == ["/cache/jobset"]


def test_slurm_is_given_to_the_running_sandbox(running) -> None:
    sandbox_session.add_slurm(print, Programs())
    assert running.program(SLURM_PROGRAMS) == ["/cache/slurm"]


def test_the_account_of_an_earlier_version_is_not_gone_on_with(running) -> None:
    """It answered everybody, and so its status has no access key."""
    status = json.loads(running.daemon_file.read_text())
    del status["access_key"]
    running.daemon_file.write_text(json.dumps(status))
    for go_on in (lambda: started(with_parallelcluster=False), sandbox_session.running_sandbox):
        with pytest.raises(CommandError, match=r"start a new one: \./trainyard sandbox reset"):
            go_on()


@pytest.mark.usefixtures("running")
def test_other_plugins_than_those_that_made_the_account_are_refused() -> None:
    with pytest.raises(CommandError, match=r"another plugin for aws.*sandbox stop"):
        sandbox_session.started_sandbox(print, plugins={"aws": Path("/opt/mine")})


@pytest.mark.usefixtures("running")
def test_the_status_says_which_plugins_run() -> None:
    assert sandboxes.describe()["plugins"] == ["aws 7.0.0: official release"]


def kubeconfig(**user: Any) -> str:
    return json.dumps({"clusters": [], "users": [{"name": "aws", "user": user}]})


def test_programs_outside_of_the_engine_find_the_sandboxs_aws_by_its_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path))
    asking = kubeconfig(exec={"command": "aws", "args": ["eks", "get-token"]})
    (user,) = json.loads(SandboxAccount().usable_kubeconfig(asking))["users"]
    assert user["user"]["exec"] == {
        "command": str(tmp_path / "bin" / "aws"),
        "args": ["eks", "get-token"],
    }
    assert AwsAccount().usable_kubeconfig(asking) == asking
    with_token = kubeconfig(token="t")
    assert SandboxAccount().usable_kubeconfig(with_token) == with_token
