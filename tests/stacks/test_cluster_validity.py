"""ParallelCluster accepts every stack's cluster configuration."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.sandbox.aws.server import AwsServer  # before boto3 makes a client

from trainyard.components.parallelcluster.references import Reference, resolve  # isort: skip
from trainyard.components.parallelcluster.rendering import render_cluster  # isort: skip
from trainyard.sandbox.account.fixture import fixture  # isort: skip
from tests.support import cluster_configs  # isort: skip
from tests.support.account import ZONES  # isort: skip
from tests.support.stacks import stack_plan  # isort: skip
from tests.support.stacks import PARALLELCLUSTER_STACKS  # isort: skip
from tests.support.parallelcluster_validators import Validation, validate  # isort: skip

pytestmark = pytest.mark.parallelcluster


def configuration(stack: str) -> dict[str, Any]:
    """Return the configuration of a stack with ids of the sandbox's account."""
    return resolve(render_cluster(stack_plan(stack)), id_of)


def id_of(reference: Reference) -> str:
    """Return the id of a subnet; a subnet of a new VPC is represented by one of the same zone."""
    if reference.kind in {"node-script", "script-bucket"}:
        return cluster_configs.id_of(reference)
    if reference.name.startswith("subnet-"):
        return reference.name
    kind, _, zone_id = reference.name.partition("-")
    zone = next(name for name, known in ZONES.items() if known == zone_id)
    (subnet,) = (
        each["id"] for each in fixture()["subnets"] if each["name"] == f"{kind}-{zone[-1]}"
    )
    return subnet


@pytest.fixture(scope="module")
def judged() -> dict[str, Validation]:
    """ParallelCluster's results for every stack; one process for all."""
    stacks = {stack: configuration(stack) for stack in PARALLELCLUSTER_STACKS}
    with AwsServer(region="us-west-2", keep_time=False) as server:
        return validate(stacks, account=server.access, region="us-west-2")


@pytest.mark.parametrize("stack", PARALLELCLUSTER_STACKS)
def test_parallelcluster_refuses_nothing_in_a_stack(stack: str, judged: dict[str, Validation]):
    assert judged[stack].loaded
    assert judged[stack].errors == ()
