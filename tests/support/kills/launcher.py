"""`./trainyard` with gated plugins: `python -m tests.support.kills.launcher up p5-cb --sandbox`.

The engine goes to its work without the preview that comes before it: nothing is made then, so there
is nothing to kill at. The `up` that comes after the kills is the users' own, with a preview.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.support.kills.gate import DIRECTORY
from tests.support.kills.gated_plugin import DYNAMIC
from tests.support.tracked import ROOT
from tools.cli import guarded_update, sandbox_session
from tools.cli.deployments import Guard
from tools.workspace import project, workspace
from tools.workspace.engine_process import EngineResult

_GATED = ("aws", "kubernetes", DYNAMIC)
_run = workspace.run
"""As it is before `main` puts another in its place."""


def main() -> None:
    """Run the command line with plugins that lead through the gate of the environment."""
    directory = Path(os.environ[DIRECTORY]) / "plugins"
    for name in (*project.PROVIDERS, DYNAMIC):
        _write_plugin(directory / name / f"pulumi-resource-{name}", name)
    sandbox_session.PROVIDERS = directory
    project.PROVIDERS = (*project.PROVIDERS, DYNAMIC)
    guarded_update.run_guarded = _unguarded
    workspace.run = _without_preview
    from tools.cli.app import app

    app(prog_name="./trainyard")


def _unguarded(
    of: workspace.Workspace, operation: str, arguments: Sequence[str], guard: Guard
) -> EngineResult:
    # The guard reads the steps of a preview, for what an update loses; an `up` here only makes.
    return _without_preview(of, operation, arguments)


def _without_preview(
    of: workspace.Workspace, operation: str, extra: Sequence[str] = ()
) -> EngineResult:
    return _run(of, operation, [*extra, "--skip-preview"])


def _write_plugin(path: Path, name: str) -> None:
    real = [str(ROOT / "sandbox" / "providers" / name / path.name)]
    gated = [sys.executable, "-u", "-m", "tests.support.kills.gated_plugin", name]
    command = shlex.join(gated if name in _GATED else real)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {command} "$@"\n'
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


main()
