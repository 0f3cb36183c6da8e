"""One account in this process, and one real control plane for the tests marked `kubernetes`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.processes import spawn
from tests.support.sandbox_aws import OF_OTHERS, Account
from trainyard.sandbox.access import NO_ACCOUNT
from trainyard.sandbox.aws.server import AwsServer
from trainyard.sandbox.kubernetes.control_planes import (
    KUBERNETES_VERSION,
    ControlPlane,
    ControlPlanes,
)


@pytest.fixture(scope="session")
def control_plane(
    kubernetes_programs: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """One control plane without nodes, for tests that do not change it."""
    planes = ControlPlanes(
        tmp_path_factory.mktemp("clusters"), kubernetes_programs, NO_ACCOUNT, spawn
    )
    try:
        yield planes.create("shared", KUBERNETES_VERSION)
    finally:
        planes.stop_all()


@pytest.fixture(scope="session")
def server() -> Iterator[AwsServer]:
    """Answers AWS calls; the clock does not move unless a test moves it."""
    with AwsServer(region="us-west-2", keep_time=False, of_others=OF_OTHERS) as running:
        yield running


@pytest.fixture(scope="session")
def _account(server: AwsServer) -> Account:
    # boto3 takes longer to create a client than the server to answer a test's calls.
    return Account(server)


@pytest.fixture
def account(_account: Account) -> Account:
    """The account as the sandbox's own fixture describes it."""
    _account.server.reset()
    return _account
