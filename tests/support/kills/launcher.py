"""`./trainyard` with gated plugins: `python -m tests.support.kills.launcher up p5-cb --sandbox`.

A preview creates nothing, so it has no points for a kill, and this `up` skips it.
"""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path

from tests.support import without_preview
from tests.support.kills.gate import DIRECTORY
from tests.support.modules import PYTHONPATH
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.sandbox.state import SandboxDirectory
from trainyard.sandboxes import session as sandbox_session
from trainyard.workspace.project import SandboxProject

DYNAMIC = "pulumi-python"
"""Pulumi's plugin of dynamic resources."""
_COMPONENTS = "eks"
"""A plugin that registers its resources with the engine, and that gets no gate."""
_project_of = sandbox_session.project_of
"""The original, which `main` replaces."""


def main() -> None:
    """Run the command line with plugins behind the gate of the environment."""
    sandbox_session.project_of = _gated_project_of
    # A killed engine leaves the state that it has written.
    without_preview.main(checkpoints=True)


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
    text = f'#!/bin/sh\nPYTHONPATH={shlex.quote(PYTHONPATH)} exec {shlex.join(gateway)} "$@"\n'
    (directory / program).write_text(text, encoding="utf-8")
    (directory / program).chmod(0o755)
    return directory


main()
