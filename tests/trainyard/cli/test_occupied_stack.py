"""While one command changes a stack, another that would change it is refused before it begins."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.modules import PYTHONPATH

STACK = "vpc-one-az"
HOLDER = """
import sys
from trainyard.cli import options
from trainyard.workspace.session import work_alone
work_alone(options.target(sys.argv[1], path=None, sandbox=True), "up")
print("held", flush=True)
sys.stdin.read()
"""


def holder_of(stack: str, sandbox: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, stack],
        env={**os.environ, "PYTHONPATH": PYTHONPATH, "TRAINYARD_SANDBOX": str(sandbox)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


@pytest.fixture
def other(trainyard, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """An `up` of the stack, in another process, that has not yet created anything."""
    with holder_of(STACK, tmp_path / "sandbox") as process:
        yield process
        process.kill()


@pytest.mark.parametrize("command", ["up", "destroy", "refresh"])
def test_what_changes_the_stack_is_refused(trainyard, other, command: str) -> None:
    result = trainyard(command, STACK, "--sandbox", "--yes")
    assert result.exit_code == 1
    assert f"another command uses stack {STACK}: `up`, process {other.pid}" in result.stderr
    assert f"kill -INT {other.pid}`" in result.stderr
    assert result.stdout == ""


def test_a_refused_up_starts_no_sandbox(trainyard, other, tmp_path: Path) -> None:
    trainyard("up", STACK, "--sandbox", "--yes")
    assert not (tmp_path / "sandbox" / "daemon.lock").exists()


def test_a_job_is_not_submitted_to_a_stack_that_is_being_changed(trainyard, tmp_path: Path) -> None:
    """Its queue and its definition may be being deleted; the request itself can be printed."""
    job = ("job", "batch-p4d", "nccl-tests", "--sandbox", "--nodes", "2")
    with holder_of("batch-p4d", tmp_path / "sandbox") as process:
        printed, submitted = trainyard(*job), trainyard(*job, "--submit")
        process.kill()
    assert printed.exit_code == 0
    assert submitted.exit_code == 1
    assert "another command uses stack batch-p4d: `up`, process" in submitted.stderr


def test_another_stack_and_what_changes_nothing_go_on(trainyard, other) -> None:
    assert trainyard("check", STACK, "--sandbox").exit_code == 0
    result = trainyard("destroy", "vpc-multi-az", "--sandbox", "--yes")
    assert result.exit_code == 0
    assert "nothing to destroy" in result.stdout


def test_another_sandbox_on_the_machine_has_stacks_of_its_own(
    trainyard, other, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path / "another"))
    result = trainyard("destroy", STACK, "--sandbox", "--yes")
    assert result.exit_code == 0
    assert "nothing to destroy" in result.stdout


@pytest.mark.parametrize("command", ["stop", "reset"])
def test_the_sandbox_is_not_ended_under_a_command(trainyard, other, tmp_path, command) -> None:
    kept = tmp_path / "sandbox" / "kept"
    kept.write_text("of the account", encoding="utf-8")
    result = trainyard("sandbox", command)
    assert result.exit_code == 1
    assert f"another command uses stack {STACK}: `up`, process {other.pid} on" in result.stderr
    assert f"or stop it with `kill -INT {other.pid}`" in result.stderr
    assert result.stdout == ""
    assert kept.exists()
    other.kill()
    other.wait()
    assert trainyard("sandbox", "stop").stdout == "the sandbox was not running\n"
