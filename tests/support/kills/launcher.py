"""`./trainyard` with gated plugins: `python -m tests.support.kills.launcher up p5-cb --sandbox`."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from tests.support.kills.gate import DIRECTORY
from tests.support.kills.gated_plugin import DYNAMIC
from tests.support.tracked import ROOT
from tools.cli import sandbox_session
from tools.workspace import project

_GATED = ("aws", "kubernetes", DYNAMIC)


def main() -> None:
    """Run the command line with plugins that lead through the gate of the environment."""
    directory = Path(os.environ[DIRECTORY]) / "plugins"
    for name in (*project.PROVIDERS, DYNAMIC):
        _write_plugin(directory / name / f"pulumi-resource-{name}", name)
    sandbox_session.PROVIDERS = directory
    project.PROVIDERS = (*project.PROVIDERS, DYNAMIC)
    from tools.cli.app import app

    app(prog_name="./trainyard")


def _write_plugin(path: Path, name: str) -> None:
    real = [str(ROOT / "sandbox" / "providers" / name / path.name)]
    gated = [sys.executable, "-u", "-m", "tests.support.kills.gated_plugin", name]
    command = shlex.join(gated if name in _GATED else real)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {command} "$@"\n'
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


main()
