"""CloudFormation for the account of these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.cloudformation import Stacks, cloudformation
from tests.support.sandbox_aws import Account
from trainyard.sandbox.aws.cloudformation.service import CloudFormation
from trainyard.sandbox.aws.server import AwsServer


@pytest.fixture(scope="module")
def engine(server: AwsServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CloudFormation]:
    server.reset()
    with cloudformation(server, tmp_path_factory.mktemp("engine")) as made:
        yield made


@pytest.fixture(scope="module")
def stacks(engine: CloudFormation, server: AwsServer) -> Stacks:
    """The stacks of an account that the tests of a module share; a reset would end the engine."""
    return Stacks(Account(server))
