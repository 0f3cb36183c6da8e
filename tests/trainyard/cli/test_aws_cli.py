"""The AWS CLI that pulumi-eks needs: found, too old, missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trainyard.cli.failures import WrongUseError
from trainyard.workspace.aws_cli import aws_cli_row, aws_cli_version, is_new_enough, require_aws_cli


@pytest.fixture
def aws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put an `aws` that runs this script on the PATH, and nothing else; None: no `aws`."""

    def put(script: str | None) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        if script is not None:
            path = tmp_path / "aws"
            path.write_text(script, encoding="utf-8")
            path.chmod(0o755)

    return put


@pytest.mark.parametrize(
    ("said", "enough"),
    [
        ("aws-cli/2.31.4 Python/3.13.7 Linux/6.8 exe/x86_64.ubuntu.24", True),
        ("aws-cli/2.7.0 Python/3.9", True),
        ("aws-cli/2.6.4 Python/3.9", False),
        ("aws-cli/1.24.0 Python/3.8", True),
        ("aws-cli/1.23.13 Python/3.8", False),
        ("aws-cli/1.44.2 Python/3.12", True),
        ("command not found", False),
        ("", False),
    ],
)
def test_versions_are_those_that_the_package_takes(said: str, enough: bool) -> None:
    assert is_new_enough(said) is enough


def test_without_one_nothing_begins_and_the_way_to_one_is_named(aws) -> None:
    aws(None)
    with pytest.raises(WrongUseError, match=r"found none\n  install it: https://docs\.aws"):
        require_aws_cli()
    row = aws_cli_row()
    assert row.verdict == "warning"
    assert "none on the PATH" in row.found
    assert "getting-started-install" in row.found


def test_the_one_that_is_found_is_named_with_its_version(aws) -> None:
    aws("#!/bin/sh\necho 'aws-cli/2.31.4 Python/3.13.7'\n")
    require_aws_cli()
    row = aws_cli_row()
    assert (row.verdict, row.found) == ("ok", "aws-cli/2.31.4")


def test_one_that_is_too_old_is_named_with_what_is_needed(aws) -> None:
    aws("#!/bin/sh\necho 'aws-cli/1.18.69 Python/3.8' >&2\n")
    with pytest.raises(WrongUseError, match=r"version 2\.7 or later .* found aws-cli/1\.18\.69"):
        require_aws_cli()


def test_one_that_does_not_run_is_none_that_can_be_used(aws) -> None:
    aws(f"#!{os.sep}nowhere\n")
    assert "cannot be run" in aws_cli_version()
    assert aws_cli_row().verdict == "warning"
