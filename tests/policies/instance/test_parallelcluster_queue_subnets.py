"""The subnets of a queue of ParallelCluster (E3)."""

from __future__ import annotations

import pytest

from tests.support.policy import check
from tests.support.policy_programs import slurm_queues
from trainyard.policies.rules.instance.parallelcluster_queue_subnets import POLICY

ONE_TYPE = {"Name": "ml", "InstanceType": "c5.2xlarge"}
FLEXIBLE = {
    "Name": "ml",
    "Instances": [{"InstanceType": "c5.2xlarge"}, {"InstanceType": "c5.4xlarge"}],
}


def queue(resource, *subnets):
    return {
        "Name": "work",
        "CapacityType": "ONDEMAND",
        "Networking": {"SubnetIds": list(subnets)},
        "ComputeResources": [resource],
    }


FAULTS = {
    "twice": ((slurm_queues(queue(FLEXIBLE, "subnet-a", "subnet-a")),), "names subnet-a more than"),
    "one-type": ((slurm_queues(queue(ONE_TYPE, "subnet-a", "subnet-b")),), "has 2 subnets and"),
}
VIOLATING = tuple(program for program, _ in FAULTS.values())
RIGHT = {
    "one": (slurm_queues(queue(ONE_TYPE, "subnet-a")),),
    "flexible": (slurm_queues(queue(FLEXIBLE, "subnet-a", "subnet-b")),),
}
CLEAN = tuple(RIGHT.values())


@pytest.mark.parametrize(("program", "fault"), FAULTS.values(), ids=FAULTS)
def test_fails(program, fault):
    (message,) = check(POLICY, *program).messages
    assert fault in message


@pytest.mark.parametrize("program", RIGHT.values(), ids=RIGHT)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_a_queue_with_several_compute_resources_is_named_once():
    resources = {**queue(FLEXIBLE, "subnet-a", "subnet-a")}
    resources["ComputeResources"] = [FLEXIBLE, {**FLEXIBLE, "Name": "more"}]
    assert len(check(POLICY, slurm_queues(resources)).messages) == 1
