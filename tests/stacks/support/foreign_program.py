"""A Pulumi program of a test, run with plain `pulumi` against the sandbox's account."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.support.sandbox import Sandbox
from tests.support.tracked import ROOT
from tests.support.warm_python import warm
from trainyard.engine.environment import sandbox_environment
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.sandbox.engine import ensure_plugins
from trainyard.sandbox.state import SandboxDirectory
from trainyard.sandboxes.session import project_of
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.project import SandboxProject

Run = Callable[..., subprocess.CompletedProcess[str]]


def foreign_program(
    sandbox: Sandbox,
    directory: Path,
    program: str,
    *,
    stack: str = "foreign",
    config: Mapping[str, Any] | None = None,
) -> Run:
    """Write a program and create a stack for it; return a function that runs `pulumi` there."""
    (directory / "program").mkdir()
    (directory / "program" / "__main__.py").write_text(program)
    running = SandboxDirectory(sandbox.directory)
    project = SandboxProject(directory / "project", project_of(running).plugins)
    values = {"aws:region": "us-west-2", **(config or {})}
    project.write(StackFile(stack, directory / f"Pulumi.{stack}.yaml", {"config": values}))
    description = project.directory / "Pulumi.yaml"
    ours, foreign = f"main: {ROOT}\n", f"main: {directory / 'program'}\n"
    assert ours in description.read_text()
    description.write_text(description.read_text().replace(ours, foreign))
    status = running.read_status()
    assert status is not None
    engine = ensure_pulumi(lambda _: None)
    plain = sandbox_environment(
        os.environ,
        engine=engine.directory,
        programs=sandbox.directory / "bin",
        home=project.home,
        backend=project.backend,
        passphrase=project.passphrase,
        region=status.region,
        account=status.endpoint,
    )
    environment = warm(plain) if sandbox.is_warm else plain

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(engine.executable), *arguments],
            cwd=project.directory,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    assert run("stack", "init", stack).returncode == 0
    return run


def account_environment(sandbox: Sandbox, directory: Path) -> dict[str, str]:
    """Return the environment of a user whose plugins are where Pulumi installs them.

    `PULUMI_HOME` and the `file://` backend are in `directory`.
    """
    home, state = directory / "home", directory / "state"
    state.mkdir()
    engine = ensure_pulumi(print)
    for plugin in ensure_plugins(print, engine.executable):
        program = f"pulumi-resource-{plugin.name}"
        installed = home / "plugins" / f"resource-{plugin.name}-v{plugin.version}" / program
        installed.parent.mkdir(parents=True)
        installed.write_text(f'#!/bin/sh\nexec "{plugin.directory}/{program}" "$@"\n')
        installed.chmod(0o755)
    status = SandboxDirectory(sandbox.directory).read_status()
    assert status is not None
    return sandbox_environment(
        os.environ,
        engine=engine.directory,
        programs=sandbox.directory / "bin",
        home=home,
        backend=state,
        passphrase="of team A",
        region="us-west-2",
        account=status.endpoint,
    )
