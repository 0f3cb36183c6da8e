"""The whole daemon: a cluster with a node, and no leftovers when the daemon is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.support.processes import processes_below, until
from trainyard.sandbox.access import Endpoint
from trainyard.sandbox.inventory import lines
from trainyard.sandbox.state import SandboxDirectory

pytestmark = pytest.mark.kubernetes

TRUST = '{"Version": "2012-10-17", "Statement": []}'


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[SandboxDirectory]:
    made = SandboxDirectory(tmp_path / "sandbox")
    yield made
    made.stop()
    assert processes_below(made.path) == []


def client(service: str, account: Endpoint) -> Any:
    return boto3.client(
        service, endpoint_url=account.url, region_name="us-west-2", **account.credentials
    )


def make_cluster(account: Endpoint) -> Any:
    """Create a cluster with a managed node group of one node; return the EKS client."""
    iam, eks = client("iam", account), client("eks", account)
    roles = {
        name: iam.create_role(RoleName=name, AssumeRolePolicyDocument=TRUST)["Role"]["Arn"]
        for name in ("cluster", "node")
    }
    subnets = ["subnet-0a000000000000002", "subnet-0b000000000000002"]
    eks.create_cluster(
        name="c",
        roleArn=roles["cluster"],
        resourcesVpcConfig={"subnetIds": subnets},
        accessConfig={"authenticationMode": "API_AND_CONFIG_MAP"},
    )
    until(
        lambda: eks.describe_cluster(name="c")["cluster"]["status"] == "ACTIVE",
        "the cluster to be ACTIVE",
    )
    eks.create_nodegroup(
        clusterName="c",
        nodegroupName="system",
        nodeRole=roles["node"],
        subnets=subnets[:1],
        instanceTypes=["c5.2xlarge"],
        scalingConfig={"minSize": 1, "maxSize": 1, "desiredSize": 1},
    )
    return eks


def test_a_node_joins_and_everything_goes_again(
    directory: SandboxDirectory, kubernetes_programs: dict[str, list[str]]
) -> None:
    status = directory.start(kubernetes_programs)
    before = lines(directory)
    eks = make_cluster(status.endpoint)
    until(
        lambda: any(line.startswith("kubernetes:Node ip-") for line in lines(directory)),
        "the node to join",
    )
    eks.delete_nodegroup(clusterName="c", nodegroupName="system")
    eks.delete_cluster(name="c")
    until(lambda: eks.list_clusters()["clusters"] == [], "the cluster to be gone")
    iam = client("iam", status.endpoint)
    for name in ("cluster", "node"):
        iam.delete_role(RoleName=name)
    assert lines(directory) == before
    assert list(directory.clusters.iterdir()) == []


def test_a_killed_daemon_takes_its_control_planes_with_it(
    directory: SandboxDirectory, kubernetes_programs: dict[str, list[str]]
) -> None:
    status = directory.start(kubernetes_programs)
    make_cluster(status.endpoint)
    assert any("kube-apiserver" in command for command in processes_below(directory.path))
    os.kill(status.pid, signal.SIGKILL)
    until(lambda: processes_below(directory.path) == [], "every process to be gone")
    # A killed process loses its command line before its last thread has ended.
    until(lambda: directory.read_status() is None, "the daemon to be gone")
    directory.start(kubernetes_programs)
    assert list(directory.clusters.iterdir()) == []
