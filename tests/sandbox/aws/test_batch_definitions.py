"""Job definitions: revisions, and refusals of multi-node parallel ones."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.batch_account import Batch, container
from tests.support.sandbox_aws import Account, refused, without


@pytest.fixture
def batch(account: Account) -> Batch:
    return Batch(account)


def test_revisions_count_up_and_never_again(batch: Batch) -> None:
    assert [batch.single()["revision"] for _ in range(2)] == [1, 2]
    batch.client.deregister_job_definition(jobDefinition="one:2")
    describe = batch.client.describe_job_definitions
    active = describe(jobDefinitionName="one", status="ACTIVE")["jobDefinitions"]
    assert [each["revision"] for each in active] == [1]
    assert batch.single()["revision"] == 3


def test_a_multinode_definition_is_described_as_it_was_given(batch: Batch) -> None:
    arn = batch.multinode(4)["jobDefinitionArn"]
    (found,) = batch.client.describe_job_definitions(jobDefinitions=[arn])["jobDefinitions"]
    properties = found["nodeProperties"]
    assert (properties["numNodes"], properties["mainNode"]) == (4, 0)
    (nodes,) = properties["nodeRangeProperties"]
    assert {key: nodes["container"][key] for key in container()} == container()
    assert nodes["container"]["ulimits"] == []


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ({"numNodes": 1001}, "between 1 and 1000"),
        ({"mainNode": 2}, "mainNode 2 must be smaller"),
        (
            {"nodeRangeProperties": [{"targetNodes": "0:0", "container": container()}]},
            "all 2 nodes",
        ),
        ({"nodeRangeProperties": [{"targetNodes": "0:2", "container": container()}]}, "outside"),
        ({"nodeRangeProperties": [{"targetNodes": "all", "container": container()}]}, "no range"),
        (
            {
                "numNodes": 6,
                "nodeRangeProperties": [
                    {"targetNodes": str(number), "container": container()} for number in range(6)
                ],
            },
            "at most 5 node groups",
        ),
        (
            {
                "nodeRangeProperties": [
                    {
                        "targetNodes": "0",
                        "container": container(),
                        "instanceTypes": ["p5.48xlarge"],
                    },
                    {"targetNodes": "1", "container": container(), "instanceTypes": ["c5.2xlarge"]},
                ]
            },
            "same instance type",
        ),
        (
            {
                "nodeRangeProperties": [
                    {"targetNodes": str(number), "container": container(instanceType=kind)}
                    for number, kind in enumerate(("p5.48xlarge", "c5.2xlarge"))
                ]
            },
            "same instance type",
        ),
        (
            {
                "nodeRangeProperties": [
                    {"targetNodes": "0:", "container": without(container(), "resourceRequirements")}
                ]
            },
            "vCPUs must be given",
        ),
    ],
)
def test_nodes_that_batch_does_not_run_together_are_refused(
    batch: Batch, properties: dict[str, Any], words: str
) -> None:
    """G1: the limits of multi-node parallel jobs."""
    with refused("ClientException", words):
        batch.multinode(**{"nodes": 2, **properties})


def test_properties_of_the_other_type_are_refused(batch: Batch) -> None:
    with refused("ClientException", "containerProperties belong to job definitions of type"):
        batch.client.register_job_definition(
            jobDefinitionName="x", type="multinode", containerProperties=container()
        )
