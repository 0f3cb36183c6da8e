"""One emulated account for each file, which is reset for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import Result

from tests.support.capacity_commands import Commands  # before boto3 makes a client

from trainyard.sandbox.aws.server import AwsServer  # isort: skip
from tests.support.faults.account import CountedCalls
from tests.support.sandbox_aws import use_account
from trainyard.stack_files import stacks_directory


@pytest.fixture(scope="module")
def server() -> Iterator[AwsServer]:
    with AwsServer(region="us-west-2", keep_time=False) as running:
        yield running


@pytest.fixture(scope="module")
def counted(server: AwsServer) -> CountedCalls:
    return CountedCalls(server)


@pytest.fixture
def unchecked(capacity: Commands) -> None:
    """Leave out the checks of the stack, which other tests prove, because they take a second."""
    capacity.check = lambda *_: ()


@pytest.fixture
def capacity(
    trainyard: Callable[..., Result],
    server: AwsServer,
    counted: CountedCalls,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Commands:
    server.reset()
    counted.done.clear()
    directory = tmp_path / "mine"
    directory.mkdir()
    monkeypatch.setenv(stacks_directory.VARIABLE, str(directory))
    use_account(monkeypatch, server.access)
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    monkeypatch.setattr("trainyard.capacity.block_purchase.time.sleep", lambda _: None)
    return Commands(trainyard, server, directory)
