"""Locks of the real engine: they are respected while it runs, and removed when it has died.

The launcher's lock ends with the launcher. An engine that outlives it, or was started without it,
has only its own lock, in the `file://` backend of a sandbox and of an account.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.pulumi_workspace import Workspace
from tests.support.sandbox import TIMEOUT_SECONDS, Sandbox, running
from trainyard.engine.engine_process import PulumiCommand
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of
from trainyard.workspace.locks import StackLockedError
from trainyard.workspace.workspace import AccountWorkspace

STACK = "vpc-one-az"
LOCKS = Path(".pulumi", "locks", "organization", "trainyard", STACK)
# Opening a pipe blocks until its other end is open.
PROGRAM = """\
import os
import pulumi

if "BEGUN" in os.environ and not pulumi.runtime.is_dry_run():
    open(os.environ["BEGUN"], "w").close()
    open(os.environ["GO_ON"]).close()
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Workspace]:
    """A project of a user of an account, whose backend is a directory."""
    made = Workspace(directory=tmp_path / "my project", engine=ensure_pulumi(print))
    python = f"{{name: python, options: {{toolchain: pip, virtualenv: {sys.prefix!r}}}}}"
    made.write("Pulumi.yaml", f"name: trainyard\nruntime: {python}\n")
    made.write("__main__.py", PROGRAM)
    for folder in ("home", "state"):
        (made.directory / folder).mkdir()
    made.run("stack", "init", STACK)
    yield made
    for pid in made.processes():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def engine(project: Workspace) -> Iterator[subprocess.Popen[str]]:
    """A running `up` of another user."""
    pipes = {name: project.directory / name for name in ("BEGUN", "GO_ON")}
    for pipe in pipes.values():
        os.mkfifo(pipe)
    with subprocess.Popen(
        project.command("up", "--yes", "--skip-preview", "--stack", STACK),
        cwd=project.directory,
        env={**project.environment, **{name: str(pipe) for name, pipe in pipes.items()}},
        stdout=subprocess.DEVNULL,
        text=True,
    ) as process:
        pipes["BEGUN"].read_text()
        yield process
        process.kill()


@pytest.mark.engine
def test_the_lock_of_an_account_is_respected_while_its_engine_lives_and_cleared_then(
    project: Workspace, engine: subprocess.Popen[str]
) -> None:
    command = PulumiCommand(project.engine.executable, project.directory, project.environment)
    workspace = AccountWorkspace(
        target_of(find_stack_file(STACK), sandbox=False), command, config_file=None
    )
    again = ["up", "--yes", "--skip-preview", "--stack", STACK]
    told: list[str] = []

    def look() -> None:
        workspace.prepare(changes=True, report=told.append)

    for refused in (look, lambda: command.output(again)):
        with pytest.raises(StackLockedError) as raised:
            refused()
        said = str(raised.value)
        assert f"another command uses stack {STACK}: process {engine.pid} on " in said
        assert f"wait until it ends, or stop it with `kill -INT {engine.pid}`," in said
    assert told == []

    engine.kill()
    engine.wait()
    assert len(list((project.directory / "state" / LOCKS).glob("*.json"))) == 1
    look()
    assert told == [f"removed the lock of process {engine.pid}, which no longer runs"]
    command.output(again)


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    """A running sandbox with the processes of a user."""
    with running(tmp_path / "sandbox") as started:
        yield started


def engine_without_launcher(sandbox: Sandbox, process: subprocess.Popen[str]) -> int:
    """Kill the launcher, but not its engine, during the update, and return the engine's id.

    The engine is stopped, so that it cannot end before the caller has used the stack. It is stopped
    twice: its process group loses its last parent in the session when the launcher ends, and the
    kernel then continues the stopped processes of the group (setpgid(2), "orphaned process group").
    """
    assert process.stdout is not None
    next(line for line in process.stdout if "aws:ec2:Vpc" in line and "created" in line)
    (lock,) = (sandbox.directory / "pulumi" / "state" / LOCKS).glob("*.json")
    pid = json.loads(lock.read_text(encoding="utf-8"))["pid"]
    os.kill(pid, signal.SIGSTOP)
    process.kill()
    process.wait()
    os.kill(pid, signal.SIGSTOP)
    return pid


@pytest.mark.sandbox
def test_an_engine_that_outlives_its_launcher_keeps_its_stack(sandbox: Sandbox) -> None:
    up = ("up", STACK, "--sandbox", "--yes")
    with sandbox.start_command(*up) as process:
        pid = engine_without_launcher(sandbox, process)
        refused = sandbox.run(*up)
        os.kill(pid, signal.SIGKILL)
        process.communicate(timeout=TIMEOUT_SECONDS)
    assert refused.exit_code == 1
    assert f"another command uses stack {STACK}: process {pid} on " in refused.stderr
    assert f"stop it with `kill -INT {pid}`" in refused.stderr

    assert f"removed the lock of process {pid}, which no longer runs" in sandbox.must(*up).said
