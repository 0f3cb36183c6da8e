"""Commands that cannot succeed refuse before they start anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.parallelcluster import RAW_P4DE
from tests.trainyard.cli.conftest import COMPLETE
from trainyard.sandbox.engine import EngineError


@pytest.mark.parametrize("command", ["up", "destroy", "refresh"])
def test_refuses_to_change_something_without_a_terminal_or_yes(trainyard, command: str) -> None:
    result = trainyard(command, "p5-cb", "--sandbox")
    assert result.exit_code == 2
    assert "--yes" in result.stderr


@pytest.mark.parametrize(
    "arguments", [("up", "p5-cb", "--yes"), ("preview", "p5-cb"), ("plan", "p5-cb", "--json")]
)
def test_refuses_to_work_in_an_account_without_credentials(
    trainyard, stack_file, arguments: tuple[str, ...]
) -> None:
    result = trainyard(*arguments, "--stack-file", stack_file(COMPLETE))
    assert result.exit_code == 2
    assert "no AWS credentials found; nothing was done" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("command", ["up", "preview"])
def test_a_wrong_configuration_starts_no_sandbox(
    trainyard, stack_file, tmp_path: Path, command: str
) -> None:
    yes = ["--yes"] if command == "up" else []
    path = stack_file({"name": "p5-cb"})
    result = trainyard(command, "p5-cb", "--sandbox", *yes, "--stack-file", path)
    assert result.exit_code == 2
    assert "architecture" in result.stderr
    assert not (tmp_path / "sandbox").exists()


def test_the_aws_cli_is_looked_for_before_the_engine(
    trainyard, stack_file, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """pulumi-eks calls it for every token, and without it fails during an update."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "not-real")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-real")
    monkeypatch.setenv("PATH", str(tmp_path))
    result = trainyard("up", "p5-cb", "--yes", "--stack-file", stack_file(COMPLETE))
    assert result.exit_code == 2
    assert "EKS stacks need the AWS CLI, version 2" in result.stderr


def test_an_aws_cli_that_pulumi_eks_refuses_is_refused_before(
    trainyard, stack_file, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "bin" / "aws"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho aws-cli/1.23.13 Python/3.11\n")
    program.chmod(0o755)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "not-real")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-real")
    monkeypatch.setenv("PATH", str(program.parent))
    result = trainyard("up", "p5-cb", "--yes", "--stack-file", stack_file(COMPLETE))
    assert result.exit_code == 2
    assert "found aws-cli/1.23.13" in result.stderr


def test_parallelcluster_needs_no_aws_cli(
    trainyard, stack_file, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No Kubernetes token is needed; the next prerequisite is the engine."""

    def no_engine(_report: object) -> None:
        raise EngineError("there is no engine")

    monkeypatch.setattr("trainyard.workspace.session.ensure_pulumi", no_engine)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "not-real")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-real")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PULUMI_BACKEND_URL", tmp_path.as_uri())
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "")
    result = trainyard("up", "pc-p4de", "--yes", "--stack-file", stack_file(RAW_P4DE))
    assert result.exit_code != 0
    assert "there is no engine" in result.stderr


@pytest.mark.parametrize(
    ("stack", "artifact", "there_is"),
    [
        pytest.param("p5-cb", "cluster-config", "kubeconfig", id="eks"),
        pytest.param("pc-gpu", "kubeconfig", "cluster-config", id="parallelcluster"),
        pytest.param("batch-p4d", "kubeconfig", "none", id="batch"),
        pytest.param("vpc-one-az", "cluster-config", "none", id="network"),
    ],
)
def test_an_artifact_of_another_architecture_is_answered_with_those_there_are(
    trainyard, stack: str, artifact: str, there_is: str
) -> None:
    """PC-01: ParallelCluster stacks create a cluster file, EKS stacks a kubeconfig."""
    result = trainyard("artifact", stack, artifact, "--sandbox")
    assert result.exit_code == 2
    assert f"available: {there_is}" in result.stderr


def test_an_unknown_artifact_is_answered_with_those_there_are(trainyard) -> None:
    result = trainyard("artifact", "p5-cb", "kubeconf", "--sandbox")
    assert result.exit_code == 2
    assert "available: kubeconfig" in result.stderr


def test_a_file_of_another_place_makes_a_stack_known_to_destroy(trainyard, stack_file) -> None:
    path = stack_file(COMPLETE)
    result = trainyard("destroy", "of-my-own", "--sandbox", "--yes", "--stack-file", path)
    assert result.exit_code == 0
    assert result.stdout == "the sandbox has no stack of-my-own: nothing to destroy\n"


def test_an_unknown_stack_is_wrong_use_and_no_empty_stack(trainyard) -> None:
    result = trainyard("destroy", "of-my-own", "--sandbox", "--yes")
    assert result.exit_code == 2
    assert "there is no stack 'of-my-own'" in result.stderr


def test_the_way_to_bring_a_stack_up_reads_the_same_file(trainyard, stack_file) -> None:
    path = stack_file(COMPLETE)
    result = trainyard("refresh", "of-my-own", "--sandbox", "--yes", "--stack-file", path)
    assert result.exit_code == 1
    assert f"./trainyard up of-my-own --sandbox --stack-file {path}" in result.stderr


@pytest.mark.parametrize("stack", ["batch-p4d", "vpc-one-az"])
def test_a_stack_that_is_not_up_has_no_outputs(trainyard, stack: str) -> None:
    result = trainyard("outputs", stack, "--sandbox", "--json")
    assert result.exit_code == 1
    assert f"./trainyard up {stack} --sandbox" in result.stderr
    assert result.stdout == ""
