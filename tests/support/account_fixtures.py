"""Fixtures of an emulated account that tests read with boto3; a conftest imports them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.support.sandbox_aws import Account, use_account  # before boto3 makes a client

from trainyard.components.account.reader import AccountReader  # isort: skip
from trainyard.sandbox.aws.server import AwsServer  # isort: skip


@pytest.fixture(scope="module")
def server() -> Iterator[AwsServer]:
    """One account for all tests of a module."""
    with AwsServer(region="us-west-2", keep_time=False) as running:
        yield running


@pytest.fixture
def account(server: AwsServer, monkeypatch: pytest.MonkeyPatch) -> Account:
    """Let boto3 reach the account."""
    use_account(monkeypatch, server.access)
    return Account(server)


@pytest.fixture
def reader(account: Account) -> AccountReader:
    """Return a reader of the account."""
    return AccountReader(region="us-west-2")


@pytest.fixture
def chicago(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This machine is in America/Chicago, hours behind UTC."""
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "America/Chicago")
        time.tzset()
        yield
    time.tzset()
