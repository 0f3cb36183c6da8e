"""`./trainyard sandbox …`: start, status, inventory, reset and stop, as a user runs them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.kept_logs import without_kept_logs
from tests.support.processes import processes_below
from tests.support.sandbox import Sandbox
from trainyard.sandbox.engine import pins

pytestmark = pytest.mark.sandbox


@pytest.fixture
def never_started(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path / "sandbox")


def test_a_second_start_finds_the_first(sandbox: Sandbox) -> None:
    before = json.loads(sandbox.must("sandbox", "status", "--json").stdout)
    sandbox.must("sandbox", "start")
    assert json.loads(sandbox.must("sandbox", "status", "--json").stdout) == before


def test_status_tells_where_everything_is(sandbox: Sandbox) -> None:
    status = json.loads(sandbox.must("sandbox", "status", "--json").stdout)
    assert status["running"] is True
    assert status["account"] == "123456789012 in us-west-2"
    assert status["aws endpoint"].startswith("http://127.0.0.1:")
    assert Path(status["logs"]).is_dir()


def test_inventory_is_a_line_for_each_object_in_order(sandbox: Sandbox) -> None:
    lines = sandbox.must("sandbox", "inventory").stdout.splitlines()
    assert lines == sorted(lines)
    # ParallelCluster keeps log groups of clusters of other tests.
    assert without_kept_logs(lines) == sandbox.inventory()
    assert any(line.startswith("ec2:vpc vpc-0123456789abcdef0") for line in lines)
    assert json.loads(sandbox.must("sandbox", "inventory", "--json").stdout) == lines


def test_kubectl_is_there_for_machines_that_have_none(sandbox: Sandbox) -> None:
    command = [sandbox.directory / "bin" / "kubectl", "version", "--client"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"v{pins.KUBERNETES_VERSION}" in done.stdout


def test_a_sandbox_that_does_not_run_has_no_inventory(never_started: Sandbox) -> None:
    done = never_started.run("sandbox", "inventory")
    assert done.exit_code == 1
    assert "./trainyard sandbox start" in done.stderr


def test_a_sandbox_that_does_not_run_has_no_clock(never_started: Sandbox) -> None:
    done = never_started.run("sandbox", "advance", "--hours", "1")
    assert done.exit_code == 1
    assert "./trainyard sandbox start" in done.stderr


def test_status_starts_nothing(never_started: Sandbox) -> None:
    status = json.loads(never_started.must("sandbox", "status", "--json").stdout)
    assert status["running"] is False
    assert not never_started.directory.exists()


def test_stop_twice_is_fine_and_leaves_no_process(own_sandbox: Sandbox) -> None:
    assert "is stopped" in own_sandbox.must("sandbox", "stop").stdout
    assert "was not running" in own_sandbox.must("sandbox", "stop").stdout
    assert processes_below(own_sandbox.directory) == []


def test_reset_gives_the_account_as_it_was_at_first(own_sandbox: Sandbox) -> None:
    before = own_sandbox.inventory()
    (own_sandbox.directory / "left-over").write_text("from an earlier version")
    own_sandbox.must("sandbox", "reset")
    assert own_sandbox.inventory() == before
    assert not (own_sandbox.directory / "left-over").exists()


@pytest.mark.parametrize("command", ["outputs", "artifact", "refresh"])
def test_a_stack_that_is_not_up_is_named_with_the_way_to_bring_it_up(
    sandbox: Sandbox, command: str
) -> None:
    """Whether the sandbox never had the stack, or has the record of its destroy."""
    more = {"artifact": ["kubeconfig"], "refresh": ["--yes"]}.get(command, [])
    done = sandbox.run(command, "p5-cb", *more, "--sandbox")
    assert done.exit_code == 1
    assert "./trainyard up p5-cb --sandbox" in done.stderr
