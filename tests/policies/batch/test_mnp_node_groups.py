"""The limits of node groups: five groups, 1,000 nodes, one instance type (G1)."""

from __future__ import annotations

import json

import pytest

from tests.support.policy import Declared, check
from tests.support.policy_programs import (
    multi_node_job,
    node_range,
    single_node_job,
    unknown_job,
)
from trainyard.policies.resources.types import BATCH_JOB_DEFINITION
from trainyard.policies.rules.batch.mnp_node_groups import POLICY


def of(**properties):
    return multi_node_job(node_properties=properties)


def types(*names):
    ranges = [node_range(str(index), instanceTypes=[name]) for index, name in enumerate(names)]
    return multi_node_job(*ranges)


FAULTS = {
    "six-groups": (
        multi_node_job(*(node_range(str(n)) for n in range(6)), node_properties={"numNodes": 6}),
        "6 node groups, and the maximum is 5",
    ),
    "too-many-nodes": (of(numNodes=1001), "has 1001 nodes, and a job has at most 1000"),
    "two-types": (types("p5.48xlarge", "p4d.24xlarge"), "p4d.24xlarge, p5.48xlarge"),
    "two-types-in-containers": (
        multi_node_job(
            node_range("0", container={"instanceType": "p5.48xlarge"}),
            node_range("1", container={"instanceType": "p5e.48xlarge"}),
        ),
        "p5.48xlarge, p5e.48xlarge",
    ),
    "no-such-main-node": (of(mainNode=2), "its main node is 2"),
    "node-left-out": (multi_node_job(node_range("0:0")), "node 1 of its 2 is in no node group"),
    "fargate": (multi_node_job(platformCapabilities=["FARGATE"]), "for Fargate"),
}
VIOLATING = tuple((job,) for job, _ in FAULTS.values())
RIGHT = {
    "one-group": multi_node_job(),
    "nested-groups": multi_node_job(node_range("0:1"), node_range("1:1")),
    "open-ranges": multi_node_job(node_range(":0"), node_range("1:")),
    "one-type": types("p5.48xlarge", "p5.48xlarge"),
    "most-nodes": of(numNodes=1000),
    "ec2": multi_node_job(platformCapabilities=["EC2"]),
    "one-node": single_node_job(),
}
CLEAN = tuple((job,) for job in RIGHT.values())


@pytest.mark.parametrize(("job", "fault"), FAULTS.values(), ids=FAULTS)
def test_fails(job, fault):
    (message,) = check(POLICY, job).messages
    assert fault in message


@pytest.mark.parametrize("job", RIGHT.values(), ids=RIGHT)
def test_passes(job):
    found = check(POLICY, job)
    assert (found.messages, found.undecided) == ([], [])


def test_the_spelling_of_cloudformation_is_read_too():
    properties = {"NumNodes": 1001, "NodeRangeProperties": [{"TargetNodes": "0:"}]}
    props = {"nodeProperties": json.dumps(properties)}
    (message,) = check(POLICY, Declared(BATCH_JOB_DEFINITION, "job", props)).messages
    assert "has 1001 nodes" in message


def test_a_raised_limit_of_nodes_counts():
    assert check(POLICY, of(numNodes=1500), config={"most_nodes": 2000}).messages == []


def test_properties_that_are_not_known_yet_are_said():
    assert "nccl-tests.nodeProperties" in check(POLICY, unknown_job()).undecided[0]
