"""Run the command line in this process, without an account and a sandbox."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from tests.support.eks import changed
from trainyard.cli.app import app

NO_CREDENTIALS = {
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
}
CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_ENDPOINT_URL")

COMPLETE = changed()
"""A cluster's configuration with every value that only the user knows."""


@pytest.fixture
def trainyard(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """Run a command like `./trainyard` and return its result; `deployed` stands for the stack."""
    for name in CREDENTIALS:
        monkeypatch.delenv(name, raising=False)
    for name, value in NO_CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path / "sandbox"))
    return lambda *arguments, deployed=None: CliRunner().invoke(
        app, [str(a) for a in arguments], obj=deployed
    )


@pytest.fixture
def credentials(trainyard: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials of an account that no test calls; `trainyard` has removed those of the user."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "not-real")


@pytest.fixture
def stack_file(tmp_path: Path) -> Callable[..., Path]:
    """Write a stack file with the given cluster configuration and return its path."""

    def write(cluster: object, **config: object) -> Path:
        path = tmp_path / "Pulumi.p5-cb.yaml"
        content = {"config": {"aws:region": "us-west-2", "trainyard:cluster": cluster, **config}}
        path.write_text(yaml.safe_dump(content))
        return path

    return write
