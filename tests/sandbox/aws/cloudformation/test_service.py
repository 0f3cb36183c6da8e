"""The CloudFormation process: its start, and its end with the daemon."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import boto3
import pytest
import urllib3

from tests.support.cloudformation import thing_template
from tests.support.listeners import listeners
from tests.support.processes import processes_below, until
from trainyard.sandbox.access import HEADER, NO_ACCOUNT
from trainyard.sandbox.aws.cloudformation.service import CloudFormation, CloudFormationError
from trainyard.sandbox.engine.parallelcluster_environment import parallelcluster_python
from trainyard.sandbox.processes import Spawner
from trainyard.sandbox.state import SandboxDirectory, SandboxStatus


def test_one_that_does_not_start_shows_its_log(tmp_path: Path) -> None:
    spawner = Spawner(tmp_path / "processes")
    # This Python environment has no ministack.
    engine = CloudFormation(tmp_path / "c", [sys.executable], spawner.spawn, region="us-west-2")
    try:
        with pytest.raises(CloudFormationError, match="No module named 'ministack'") as caught:
            engine.endpoint(NO_ACCOUNT)
        assert str(tmp_path / "c" / "ministack.log") in str(caught.value)
        assert not engine.is_running
    finally:
        engine.stop()
        spawner.stop_all()


# Its first runs find their port in use; a later one answers.
TAKEN = """
import http.server, os, pathlib, sys
runs = pathlib.Path(sys.argv[1])
with runs.open("a") as file:
    file.write("x")
if len(runs.read_text()) <= int(sys.argv[2]):
    sys.exit("ERROR: 127.0.0.1 is already in use. Is MiniStack already running?")

class Healthy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

http.server.HTTPServer(("127.0.0.1", int(os.environ["GATEWAY_PORT"])), Healthy).serve_forever()
"""


@pytest.fixture
def contested(tmp_path: Path) -> Iterator[Callable[[int], CloudFormation]]:
    """Create one whose port is in use for this number of attempts."""
    spawner = Spawner(tmp_path / "processes")
    runs = tmp_path / "runs"

    def make(times: int) -> CloudFormation:
        program = [sys.executable, "-c", TAKEN, str(runs), str(times)]
        return CloudFormation(tmp_path / "c", program, spawner.spawn, region="us-west-2")

    yield make
    spawner.stop_all()


def test_another_port_is_tried_where_somebody_has_taken_the_one_found(
    contested: Callable[[int], CloudFormation],
) -> None:
    engine = contested(2)
    assert engine.endpoint(NO_ACCOUNT).startswith("http://127.0.0.1:")
    assert engine.is_running
    engine.stop()
    assert not engine.is_running


def test_ports_are_not_tried_for_ever(contested: Callable[[int], CloudFormation]) -> None:
    with pytest.raises(CloudFormationError, match="already in use"):
        contested(99).endpoint(NO_ACCOUNT)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[SandboxDirectory]:
    made = SandboxDirectory(tmp_path / "sandbox")
    yield made
    made.stop()


def busy(directory: SandboxDirectory) -> SandboxStatus:
    """Start a sandbox in which a function has run."""
    python = [str(parallelcluster_python(print))]
    status = directory.start({"parallelcluster-python": python})
    assert len(processes_below(directory.path)) == 1  # the daemon: there was no call yet
    client = boto3.client(
        "cloudformation",
        endpoint_url=status.aws_endpoint,
        region_name=status.region,
        **status.endpoint.credentials,
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
def test_nobody_without_the_access_key_makes_a_function(directory: SandboxDirectory) -> None:
    """Lambda runs any program, as the user of the sandbox."""
    status = busy(directory)
    own = urlsplit(status.aws_endpoint).port
    (engine,) = [
        each
        for each in listeners(status.pid)
        if "trainyard.sandbox.aws.cloudformation.engine" in each.command
    ]
    assert engine.is_on_loopback
    assert engine.port != own
    for key in ("", "x", "123456789012"):
        for method, path in (
            ("POST", "/2015-03-31/functions"),
            ("GET", "/2015-03-31/functions"),
            ("POST", "/_ministack/reset"),
            ("GET", "/_ministack/cfn-response/x"),
        ):
            url = f"http://127.0.0.1:{engine.port}{path}"
            answer = urllib3.request(method, url, headers={HEADER: key}, retries=False)
            assert answer.status == 403


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
