"""A shell on a node: selection of the node, and limits of the sandbox."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.recorded_stack import RecordedStack
from tests.support.tracked import ROOT
from trainyard.cli.failures import CommandError, WrongUseError
from trainyard.commands.cluster.ssm import Instance, instances_of, selected

ONE = Instance("i-1", "p5.48xlarge", "ip-10-0-0-1.us-west-2.compute.internal", "10.0.0.1")
TWO = Instance("i-2", "p5.48xlarge", "ip-10-0-0-2.us-west-2.compute.internal", "10.0.0.2")


@pytest.mark.parametrize("name", ["i-2", TWO.dns_name, TWO.address])
def test_a_node_is_known_by_its_id_name_and_address(name: str) -> None:
    assert selected([ONE, TWO], name, stack="p5-cb") == "i-2"


def test_the_only_node_needs_no_name() -> None:
    assert selected([ONE], "", stack="p5-cb") == "i-1"


def test_several_nodes_and_an_unknown_one_are_answered_with_the_list() -> None:
    for name, said in (("", "has several nodes"), ("i-9", "has no running node i-9")):
        with pytest.raises(WrongUseError, match=said) as raised:
            selected([ONE, TWO], name, stack="p5-cb")
        assert f"\n  i-2  {TWO.dns_name}  p5.48xlarge" in str(raised.value)
    with pytest.raises(CommandError, match="no running instance"):
        selected([], "", stack="p5-cb")


@pytest.mark.parametrize("key", ["trainyard:cluster", "parallelcluster:cluster-name"])
def test_instances_of_other_clusters_are_not_listed(key: str) -> None:
    def instance(identifier: str, cluster: str) -> dict[str, object]:
        tags = [{"Key": key, "Value": cluster}]
        return {"InstanceId": identifier, "InstanceType": "p5.48xlarge", "Tags": tags}

    answer = [{"Instances": [instance("i-1", "p5-cb"), instance("i-2", "other")]}]
    assert [each.identifier for each in instances_of(answer, "p5-cb")] == ["i-1"]


@pytest.mark.parametrize("command", ["ssh", "ssm", "logs"])
def test_the_sandbox_says_what_it_cannot_do(trainyard, command: str) -> None:
    result = trainyard(command, "pc-gpu", "--sandbox")
    assert result.exit_code == 2
    assert "the sandbox runs no " in result.stderr


def test_only_a_slurm_cluster_has_a_head_node(trainyard) -> None:
    result = trainyard("ssh", "p5-cb")
    assert result.exit_code == 2
    assert "./trainyard ssm p5-cb" in result.stderr


BECOME = """\
from tests.support.recorded_stack import RecordedStack
from trainyard.cli.app import app
deployed = RecordedStack(found={"ssh_command": %r, "ssm_command": %r})
app(["ssh", "pc-gpu"], obj=deployed)
"""
SSM = "aws ssm start-session --target i-1 --region us-west-2"


@pytest.mark.parametrize(
    ("ssh_command", "said"), [("ssh ubuntu@203.0.113.1", "ssh"), (None, "aws")]
)
def test_the_printed_command_is_run_and_its_exit_code_is_the_own(
    tmp_path: Path, ssh_command: str | None, said: str
) -> None:
    for name in ("ssh", "aws", "session-manager-plugin"):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\necho {name} "$@"\nexit 42\n')
        program.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", BECOME % (ssh_command, SSM)],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    command = ssh_command or SSM
    assert command.startswith(said)
    assert (done.returncode, done.stdout) == (42, f"{command}\n")
    assert command in done.stderr
    assert ("SSH is closed; Session Manager opens the shell" in done.stderr) == (said == "aws")


def test_a_missing_program_is_named_with_its_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, trainyard
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    deployed = RecordedStack(found={"ssh_command": None, "ssm_command": SSM})
    result = trainyard("ssm", "pc-gpu", deployed=deployed)
    assert result.exit_code == 2
    assert "needs aws, which is not on the PATH; install it: https://" in result.stderr
