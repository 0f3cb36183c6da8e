"""`./trainyard` with gated plugins: `python -m tests.support.kills.launcher up p5-cb --sandbox`.

The engine goes to its work without the preview that comes before it: nothing is made then, so there
is nothing to kill at. The `up` that comes after the kills is the users' own, with a preview.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from sandbox.state import SandboxDirectory
from tests.support.kills.gate import DIRECTORY
from tests.support.tracked import ROOT
from tools.cli import guarded_update, sandbox_session
from tools.cli.deployments import Guard
from tools.engine import ensure_pulumi
from tools.workspace import workspace
from tools.workspace.engine_process import EngineResult
from tools.workspace.project import SandboxProject

DYNAMIC = "pulumi-python"
"""The plugin of dynamic resources, which is Pulumi's own."""
_COMPONENTS = "eks"
"""A plugin that makes its resources through the engine, and is left as it is."""
_run, _project_of = workspace.run, sandbox_session.project_of
"""As they are before `main` puts others in their place."""


def main() -> None:
    """Run the command line with plugins behind the gate of the environment."""
    guarded_update.run_guarded = _unguarded
    workspace.run = _without_preview
    sandbox_session.project_of = _gated_project_of
    from tools.cli.app import app

    app(prog_name="./trainyard")


def _gated_project_of(directory: SandboxDirectory) -> SandboxProject:
    project = _project_of(directory)
    gates = Path(os.environ[DIRECTORY]) / "plugins"
    plugins = {**project.plugins, DYNAMIC: ensure_pulumi(print).directory}
    gated = {
        name: path if name == _COMPONENTS else _gated(gates / name, name, path)
        for name, path in plugins.items()
    }
    return replace(project, plugins=gated)


def _gated(directory: Path, name: str, real: Path) -> Path:
    """Write the program that starts a plugin behind the gate; return its directory."""
    program = f"pulumi-resource-{name}"
    gateway = [sys.executable, "-u", "-m", "tests.support.kills.gated_plugin", str(real / program)]
    directory.mkdir(parents=True, exist_ok=True)
    text = f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.join(gateway)} "$@"\n'
    (directory / program).write_text(text, encoding="utf-8")
    (directory / program).chmod(0o755)
    return directory


def _unguarded(
    of: workspace.Workspace, operation: str, arguments: Sequence[str], guard: Guard
) -> EngineResult:
    # The guard reads the steps of a preview, for what an update loses; an `up` here only makes.
    return _without_preview(of, operation, arguments)


def _without_preview(
    of: workspace.Workspace,
    operation: str,
    extra: Sequence[str] = (),
    *,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> EngineResult:
    return _run(of, operation, [*extra, "--skip-preview"], variables=variables)


main()
