"""An account for the real ParallelCluster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from trainyard.sandbox.aws.server import AwsServer


@pytest.fixture(scope="module")
def server() -> Iterator[AwsServer]:
    """The account of the fixture; ParallelCluster changes nothing in it."""
    with AwsServer(keep_time=False) as running:
        yield running
