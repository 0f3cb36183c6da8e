"""EFA in a queue of ParallelCluster (A1, A3, A6, A8, A9, A10)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import slurm_queues
from tests.support.policy_programs_eks import queue
from trainyard.policies.rules.efa.parallelcluster_efa import POLICY

ON = {"Enabled": True}
PLACED = {"PlacementGroup": {"Enabled": True}}
VIOLATING = (
    (queue(networking=PLACED, Efa=ON, InstanceType="g5.xlarge"),),
    (queue(networking=PLACED, Efa={"GdrSupport": True}),),
    (queue(networking={**PLACED, "SubnetIds": ["subnet-a", "subnet-b"]}, Efa=ON),),
    (queue(Efa=ON),),
    (queue(networking={**PLACED, "AssignPublicIp": True}, Efa=ON),),
)
CLEAN = ((queue(networking=PLACED, Efa=ON),), (queue(InstanceType="g5.xlarge"),))


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        (VIOLATING[0], "EFA is on, but g5.xlarge has no EFA"),
        (VIOLATING[1], "GdrSupport is on without EFA"),
        (VIOLATING[2], "EFA is on over 2 subnets"),
        (VIOLATING[3], "EFA is on without a PlacementGroup setting"),
        (VIOLATING[4], "AssignPublicIp is on, and p5.48xlarge has 32 network interfaces"),
    ],
)
def test_fails(program, fault):
    (message,) = check(POLICY, *program).messages
    assert "in its compute resource compute-gpu/distributed-ml, " in message
    assert fault in message


def test_every_type_of_a_flexible_compute_resource_is_judged():
    types = [{"InstanceType": "p5.48xlarge"}, {"InstanceType": "m5.large"}]
    nodes = {"Name": "flexible", "Instances": types, "Efa": ON, "Networking": PLACED}
    program = slurm_queues({"Name": "q", "ComputeResources": [nodes]})
    (message,) = check(POLICY, program).messages
    assert "m5.large has no EFA" in message


def test_the_group_of_a_capacity_block_needs_no_word():
    nodes = {"Name": "block", "InstanceType": "p5.48xlarge", "Efa": ON}
    program = slurm_queues(
        {"Name": "q", "CapacityType": "CAPACITY_BLOCK", "ComputeResources": [nodes]}
    )
    assert check(POLICY, program).messages == []


@pytest.mark.parametrize(
    "program",
    [
        *CLEAN,
        (queue(networking={"PlacementGroup": {"Enabled": False}}, Efa=ON),),
        (queue(networking={"PlacementGroup": {"Name": "mine"}}, Efa=ON),),
        (queue(networking={"AssignPublicIp": True}, InstanceType="g5.xlarge"),),
        (queue(networking=PLACED, Efa=ON, InstanceType="p99.48xlarge"),),
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_a_template_that_is_not_known_yet_is_left_for_the_update():
    unknown = Declared(queue().type, "pc-deployment", {"templateBody": UNKNOWN})
    assert check(POLICY, unknown).messages == []
