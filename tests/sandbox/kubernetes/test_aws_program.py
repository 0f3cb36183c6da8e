"""The sandbox's `aws`: two calls of the AWS CLI, and refusals of all others."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from trainyard.sandbox.kubernetes.aws_program import FAILED, REFUSED, main, write_aws_program

GET_TOKEN = ("eks", "get-token", "--cluster-name", "c")


@pytest.fixture
def clusters(tmp_path: Path) -> Path:
    tokens = tmp_path / "clusters" / "c" / "pki" / "tokens.csv"
    tokens.parent.mkdir(parents=True)
    tokens.write_text('t,sandbox-administrator,1,"system:masters"\n')
    return tmp_path / "clusters"


@pytest.mark.parametrize(
    "asked",
    [
        GET_TOKEN,
        ("--region", "us-west-2", *GET_TOKEN, "--output", "json"),
        (*GET_TOKEN, "--region", "us-west-2"),
        (*GET_TOKEN, "--role-arn", "arn:aws:iam::210987654321:role/r"),
        (*GET_TOKEN, "--output", "json", "--role", "arn:aws:iam::210987654321:role/r"),
    ],
)
def test_it_prints_a_credential_as_the_aws_cli_does(
    clusters: Path, capsys: pytest.CaptureFixture[str], asked: tuple[str, ...]
) -> None:
    assert main([str(clusters), "us-west-2", *asked]) == 0
    credential = json.loads(capsys.readouterr().out)
    assert credential["kind"] == "ExecCredential"
    assert credential["apiVersion"] == "client.authentication.k8s.io/v1beta1"
    assert credential["status"] == {"token": "t"}


def test_a_cluster_that_does_not_exist_has_a_token_that_nobody_accepts(
    clusters: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`aws eks get-token` signs a URL, and asks nobody whether the cluster exists."""
    assert main([str(clusters), "us-west-2", *GET_TOKEN[:-1], "d"]) == 0
    credential = json.loads(capsys.readouterr().out)
    assert credential["status"]["token"] not in ("", "t")


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        (("s3", "ls"), REFUSED, "not the AWS CLI"),
        ((), REFUSED, "not the AWS CLI"),
        (("eks", "describe-cluster", "--name", "c"), REFUSED, "not the AWS CLI"),
        ((*GET_TOKEN, "--role-session-name", "s"), REFUSED, "--role-session-name"),
        ((*GET_TOKEN, "--region", "eu-west-1"), FAILED, "is in us-west-2, not in eu-west-1"),
        ((*GET_TOKEN[:-1], "../c"), FAILED, "is not the name of an EKS cluster"),
    ],
)
def test_everything_else_fails_and_says_whose_program_it_is(
    clusters: Path,
    capsys: pytest.CaptureFixture[str],
    asked: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    assert main([str(clusters), "us-west-2", *asked]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("aws (trainyard sandbox): ")
    assert said in shown.err


def test_the_program_on_the_path_has_a_version_that_pulumi_eks_takes(tmp_path: Path) -> None:
    """`assertCompatibleAWSCLIExists` accepts 2.7.0 and later, as read from the first word."""
    programs = write_aws_program(tmp_path / "bin", clusters=tmp_path, region="us-west-2")
    command = [str(programs / "aws"), "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.split()[0] == "aws-cli/2.7.0"
