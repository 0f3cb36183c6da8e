"""The command of ParallelCluster itself, on the sandbox's account."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster_configs import p4de, setting
from tests.support.processes import spawn
from tools.parallelcluster.dryrun import DryRun, create_cluster_dryrun
from trainyard.sandbox.access import Endpoint
from trainyard.sandbox.aws.cloudformation.service import CloudFormation
from trainyard.sandbox.aws.server import AwsServer
from trainyard.sandbox.engine.parallelcluster_environment import parallelcluster_python

pytestmark = pytest.mark.parallelcluster


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """An account whose CloudFormation reports that the cluster does not exist."""
    directory = tmp_path_factory.mktemp("cloudformation")
    python = [str(parallelcluster_python(print))]
    with AwsServer(keep_time=False) as server:
        server.use_cloudformation(
            CloudFormation(Path(directory), python, spawn, region="us-west-2")
        )
        yield server.access


def dryrun(account: Endpoint, *changes) -> DryRun:
    return create_cluster_dryrun(p4de(*changes), account=account, region="us-west-2")


def test_what_the_validators_take_the_command_takes(account: Endpoint) -> None:
    # PC-01
    # The command fetches scripts at https addresses, which is not possible here.
    done = dryrun(
        account, lambda config: config["Scheduling"]["SlurmQueues"][0].pop("CustomActions")
    )
    assert done.accepted, done.answer
    assert done.seconds > 0


def test_what_they_refuse_it_refuses_with_their_messages(account: Endpoint) -> None:
    done = dryrun(account, setting("HeadNode/Ssh/KeyName", "nobody"))
    assert not done.accepted
    refused_by = {each["type"] for each in done.answer["configurationValidationErrors"]}
    assert "KeyPairValidator" in refused_by
