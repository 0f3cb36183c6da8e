"""Messages about objects that were created twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trainyard.deployment.duplicates import explanation, tell_duplicates
from trainyard.engine.engine_process import EngineFailedError
from trainyard.workspace.accounts import AwsAccount, SandboxAccount
from trainyard.workspace.recovery.duplicates import Duplicate
from trainyard.workspace.target import Target


def test_each_object_has_the_command_that_deletes_it_and_what_it_was_made_for() -> None:
    double = Duplicate("vpc-1", "p5-network-vpc", "aws ec2 delete-vpc --vpc-id vpc-1")
    text = explanation([double], stack="p5", region="us-west-2")
    assert text.splitlines()[1] == (
        "  aws ec2 delete-vpc --vpc-id vpc-1 --region us-west-2  # p5-network-vpc"
    )
    assert "unless another Pulumi backend has a stack p5 in this account" in text


@pytest.fixture
def workspace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A workspace whose account does not answer."""
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "none")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "none")
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path))
    file = SimpleNamespace(stack="p5", region="us-west-2", profile="")
    target = Target(file, AwsAccount())  # pyright: ignore[reportArgumentType]
    return SimpleNamespace(
        target=target, stack_file=file, command=SimpleNamespace(output=_no_backend)
    )


def _no_backend(_: object) -> str:
    raise EngineFailedError("the backend does not answer")


def test_an_account_that_cannot_be_asked_ends_no_command(
    workspace: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    tell_duplicates(workspace)
    out, err = capsys.readouterr()
    assert out == ""
    assert "could not check whether p5 has duplicate objects: " in err
    assert "http://127.0.0.1:9" in err


def test_a_sandbox_that_has_ended_meanwhile_ends_no_command(
    workspace: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace.target = replace(workspace.target, account=SandboxAccount())
    tell_duplicates(workspace)
    out, err = capsys.readouterr()
    assert out == ""
    assert "duplicate objects: the sandbox is not running" in err


def test_a_state_that_cannot_be_read_ends_no_command(
    workspace: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(*_: object, known: Callable[[], set[str]], **__: object) -> list[Duplicate]:
        return [Duplicate(each, "", "") for each in known()]

    monkeypatch.setattr("trainyard.deployment.duplicates.duplicates", found)
    tell_duplicates(workspace)
    assert "duplicate objects: the backend does not answer" in capsys.readouterr().err
