"""An account for each file, with the prerequisites for creating a resource of every type.

It is per file and not per session: a process has one account, which tests elsewhere empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.aws_cases import batch_cases, cases
from tests.support.aws_plugin import AT_ONCE, aws_plugin
from tests.support.aws_service_cases import monitoring_cases, network_cases, storage_cases
from tests.support.faults.account import CountedCalls, Faulty
from tests.support.sandbox_aws import Account
from trainyard.sandbox.aws.server import AwsServer


@pytest.fixture(scope="module")
def server() -> Iterator[AwsServer]:
    """Answers AWS calls; the clock does not move unless a test moves it."""
    with AwsServer(region="us-west-2", keep_time=False) as running:
        yield running


@pytest.fixture(scope="module")
def _prepared(server: AwsServer) -> Iterator[Faulty]:
    account = Account(server)
    of_services = (cases, network_cases, storage_cases, batch_cases, monitoring_cases)
    made: Any = [case for of_service in of_services for case in of_service(account)]
    counted = CountedCalls(server)
    skip: dict[str, Any] = {"skipCredentialsValidation": "true"}
    with aws_plugin(server.access, settings=AT_ONCE, **skip) as plugin:
        yield Faulty(account, plugin, {each.token: each for each in made}, counted.done)


@pytest.fixture
def faulty(_prepared: Faulty) -> Iterator[Faulty]:
    """The account with the prerequisites of the cases, without active faults around the test.

    The tests of a file share it: each test creates objects that no other test creates.
    """
    _prepared.use()
    yield _prepared
    _prepared.use()
