"""ParallelCluster's own classes, which read the provider's requests."""

from __future__ import annotations

import pytest

from tests.support.provider_readings import Read, reader
from tests.support.sandbox_aws import Account, use_account
from trainyard.sandbox.aws.server import AwsServer


@pytest.fixture(scope="session")
def read_by_provider(server: AwsServer) -> Read:
    """Read configurations or requests as the provider does, all in one process."""
    return reader(server)


@pytest.fixture
def account(account: Account, monkeypatch: pytest.MonkeyPatch) -> Account:
    """The account, which the function finds in its environment."""
    use_account(monkeypatch, account.server.access)
    return account
