"""Plain Pulumi with the account of a sandbox, which it reaches like AWS."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests.support.sandbox import Sandbox
from tools.engine import ensure_plugins, ensure_pulumi
from tools.workspace.environment import sandbox_environment


def account_environment(sandbox: Sandbox, directory: Path) -> dict[str, str]:
    """Return the environment of a user whose plugins are where Pulumi installs them.

    `PULUMI_HOME` and the `file://` backend are in `directory`.
    """
    home, state = directory / "home", directory / "state"
    state.mkdir()
    engine = ensure_pulumi(print)
    for plugin in ensure_plugins(print, engine):
        program = f"pulumi-resource-{plugin.name}"
        installed = home / "plugins" / f"resource-{plugin.name}-v{plugin.version}" / program
        installed.parent.mkdir(parents=True)
        installed.write_text(f'#!/bin/sh\nexec "{plugin.directory}/{program}" "$@"\n')
        installed.chmod(0o755)
    endpoint = re.search(r"http://127\.0\.0\.1:\d+", sandbox.must("sandbox", "status").stdout)
    assert endpoint
    return sandbox_environment(
        os.environ,
        engine=engine.directory,
        programs=sandbox.directory / "bin",
        home=home,
        backend=state,
        passphrase="of team A",
        region="us-west-2",
        aws_endpoint=endpoint[0],
    )
