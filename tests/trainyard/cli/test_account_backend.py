"""Without a login or a passphrase, a command names the missing one, and starts no engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.backend import StackMissingError


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, trainyard) -> Path:
    """A user with AWS credentials who has never used Pulumi."""
    for name in ("PULUMI_ACCESS_TOKEN", "PULUMI_BACKEND_URL", "PULUMI_CREDENTIALS_PATH"):
        monkeypatch.delenv(name, raising=False)
    for name in ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of-a-test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of-a-test")
    monkeypatch.setattr("trainyard.workspace.session.ensure_pulumi", _no_engine)
    return tmp_path


def _no_engine(_report: object) -> None:
    raise AssertionError("the engine is not needed for this answer")


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    "arguments", [("destroy", "batch-p5", "--yes"), ("outputs", "batch-p5")], ids=lambda a: a[0]
)
def test_without_a_login_it_names_the_command(trainyard, arguments: tuple[str, ...]) -> None:
    result = trainyard(*arguments)
    assert result.exit_code == 2
    assert "you are not logged in to a Pulumi backend" in result.stderr
    assert "./trainyard pulumi login file://~\n" in result.stderr


@pytest.mark.usefixtures("home")
def test_without_a_login_pulumi_does_not_ask_for_one(trainyard) -> None:
    result = trainyard("pulumi", "stack", "ls")
    assert result.exit_code == 2
    assert "you are not logged in to a Pulumi backend" in result.stderr


def test_without_a_passphrase_and_a_terminal_it_names_both_variables(trainyard, home) -> None:
    (home / "credentials.json").write_text(json.dumps({"current": "file:///state"}))
    result = trainyard("destroy", "batch-p5", "--yes")
    assert result.exit_code == 2
    assert "set PULUMI_CONFIG_PASSPHRASE, or set PULUMI_CONFIG_PASSPHRASE_FILE" in result.stderr


@pytest.mark.usefixtures("home")
def test_what_would_lose_a_stack_file_is_refused_before_anything_runs(trainyard) -> None:
    for arguments in (["destroy", "--remove"], ["stack", "rename", "p5-cb"]):
        assert trainyard("pulumi", *arguments).exit_code == 2


def test_a_stack_with_a_key_is_created_with_that_key() -> None:
    key = "awskms://alias/pulumi?region=us-west-2"
    file = StackFile("dev", Path("/Pulumi.dev.yaml"), {"secretsprovider": key})
    assert f"pulumi stack init dev --secrets-provider '{key}'" in str(StackMissingError(file))
