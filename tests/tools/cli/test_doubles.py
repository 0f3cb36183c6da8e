"""What people read of objects that were made twice."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tools.cli.doubles import explanation, tell_doubles
from tools.workspace.recovery.doubles import Double


def test_each_object_has_the_command_that_deletes_it_and_what_it_was_made_for() -> None:
    double = Double("vpc-1", "p5-network-vpc", "aws ec2 delete-vpc --vpc-id vpc-1")
    text = explanation([double], stack="p5", region="us-west-2")
    assert text.splitlines()[1] == (
        "  aws ec2 delete-vpc --vpc-id vpc-1 --region us-west-2  # p5-network-vpc"
    )
    assert "unless another Pulumi backend has a stack p5 in this account" in text


def test_an_account_that_cannot_be_asked_ends_no_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    environment = {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none",
        "HOME": str(tmp_path),
    }
    workspace: Any = SimpleNamespace(
        stack_file=SimpleNamespace(stack="p5", region="us-west-2", profile=""),
        command=SimpleNamespace(environment=environment),
    )
    tell_doubles(workspace, sandbox=False)
    out, err = capsys.readouterr()
    assert out == ""
    assert "whether p5 has anything twice could not be looked up: " in err
    assert "http://127.0.0.1:9" in err
