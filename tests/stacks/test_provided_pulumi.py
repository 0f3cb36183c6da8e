"""A user without the Pulumi CLI: every command of a message is run as printed.

The checkout is a copy, the backend a directory, and the account that of the sandbox.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.sandbox import Sandbox
from tests.support.tracked import ROOT
from tools.repository import copy_repository
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.sandbox.engine import ensure_plugins

pytestmark = pytest.mark.sandbox

PASSPHRASE = {"PULUMI_CONFIG_PASSPHRASE": "of a test"}
RUN = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the repository, so that commands may edit its stack files."""
    directory = tmp_path / "checkout"
    copy_repository(ROOT, directory, without={"tests", "docs"})
    return directory


@pytest.fixture
def environment(sandbox: Sandbox, tmp_path: Path) -> dict[str, str]:
    """The environment of a user who has never used Pulumi, with an AWS account."""
    home = tmp_path / "home"
    engine = ensure_pulumi(print)
    for plugin in ensure_plugins(print, engine.executable):
        program = f"pulumi-resource-{plugin.name}"
        installed = home / "plugins" / f"resource-{plugin.name}-v{plugin.version}"
        installed.mkdir(parents=True)
        (installed / program).write_text(f'#!/bin/sh\nexec "{plugin.directory}/{program}" "$@"\n')
        (installed / program).chmod(0o755)
    exports = sandbox.must("sandbox", "environment").stdout.splitlines()
    access = dict(shlex.split(line)[1].split("=", 1) for line in exports)
    # In the environment of agents and of CI, Pulumi behaves differently than at a user's terminal.
    names = ("PATH", "HOME", "LANG", "XDG_CACHE_HOME", "TRAINYARD_CACHE")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return kept | {
        "PULUMI_HOME": str(home),
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        **access,
        "AWS_REGION": "us-west-2",
    }


@pytest.fixture
def run(checkout: Path, environment: dict[str, str]) -> RUN:
    """Run a shell command line without a terminal."""

    def run_line(line: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", line],
            cwd=checkout,
            env=environment | more,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    return run_line


def printed(said: str, begin: str) -> list[str]:
    """Return the commands of a message that start with a text."""
    return re.findall(rf"{re.escape(begin)}.*", said)


def test_the_fixes_of_check_are_run_without_a_login_and_solve_it(run: RUN, checkout: Path) -> None:
    refused = run("./trainyard check p5-cb")
    fixes = printed(refused.stdout + refused.stderr, "./trainyard pulumi config set")
    assert refused.returncode == 2
    assert len(fixes) > 2
    for number, fix in enumerate(fixes):
        done = run(fix.replace("…", f"{number:017x}"))
        assert done.returncode == 0, f"{fix}\n{done.stderr}"
    solved = run("./trainyard check p5-cb")
    assert solved.returncode == 0, solved.stderr
    assert "encryptionsalt" not in (checkout / "Pulumi.p5-cb.yaml").read_text()


def test_the_launcher_runs_pulumi_as_it_is(run: RUN, checkout: Path) -> None:
    (checkout.parent / "state").mkdir()
    backend = {"PULUMI_BACKEND_URL": (checkout.parent / "state").as_uri(), **PASSPHRASE}
    assert run("./trainyard pulumi version").stdout.startswith("v3.")
    assert run("./trainyard pulumi stack init vpc-multi-az", **backend).returncode == 0
    removed = run("./trainyard pulumi stack rm vpc-multi-az --yes", **backend)
    assert removed.returncode == 0
    assert "added --preserve-config" in removed.stderr
    assert (checkout / "Pulumi.vpc-multi-az.yaml").exists()
    missing = run("./trainyard pulumi stack rm vpc-multi-az --yes", **backend)
    assert missing.returncode == 6  # Pulumi's exit code for a stack that does not exist
