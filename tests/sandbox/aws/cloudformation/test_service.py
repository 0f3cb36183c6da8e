"""The process of CloudFormation: its start, and its end with the daemon."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from sandbox.aws.cloudformation.service import CloudFormation, CloudFormationError
from sandbox.processes import Spawner
from sandbox.state import SandboxDirectory, SandboxStatus
from tests.support.cloudformation import thing_template
from tests.support.processes import NO_ACCOUNT, processes_below
from tests.support.waiting import until
from tools.parallelcluster.environment import parallelcluster_python


def test_one_that_does_not_start_shows_its_log(tmp_path: Path) -> None:
    spawner = Spawner(tmp_path / "processes")
    # This Python has no ministack.
    engine = CloudFormation(tmp_path / "c", [sys.executable], spawner.spawn, region="us-west-2")
    try:
        with pytest.raises(CloudFormationError, match="No module named 'ministack'") as caught:
            engine.endpoint(NO_ACCOUNT)
        assert str(tmp_path / "c" / "ministack.log") in str(caught.value)
        assert not engine.is_running
    finally:
        engine.stop()
        spawner.stop_all()


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[SandboxDirectory]:
    made = SandboxDirectory(tmp_path / "sandbox")
    yield made
    made.stop()


def busy(directory: SandboxDirectory) -> SandboxStatus:
    """Start a sandbox in which a function has run."""
    python = [str(parallelcluster_python(print))]
    status = directory.start({"parallelcluster-python": python})
    assert len(processes_below(directory.path)) == 1  # the daemon: nobody has called yet
    client = boto3.client(
        "cloudformation",
        endpoint_url=status.aws_endpoint,
        region_name=status.region,
        aws_access_key_id="sandbox",
        aws_secret_access_key="sandbox",
    )
    client.create_stack(
        StackName="s", TemplateBody=thing_template(), Capabilities=["CAPABILITY_IAM"]
    )
    until(lambda: _status(client) == "CREATE_COMPLETE", "the stack")
    assert [line for line in processes_below(directory.path) if "_worker.py" in line]
    return status


def _status(client: object) -> str:
    return client.describe_stacks(StackName="s")["Stacks"][0]["StackStatus"]  # type: ignore[attr-defined]


@pytest.mark.parallelcluster
def test_nothing_of_it_survives_a_sandbox_that_is_stopped(directory: SandboxDirectory) -> None:
    busy(directory)
    assert directory.stop() is True
    until(lambda: processes_below(directory.path) == [], "all processes to end")
    assert not directory.cloudformation.exists()


@pytest.mark.parallelcluster
def test_nothing_of_it_survives_a_daemon_that_is_killed(directory: SandboxDirectory) -> None:
    os.kill(busy(directory).pid, signal.SIGKILL)
    until(lambda: processes_below(directory.path) == [], "all processes to end")
