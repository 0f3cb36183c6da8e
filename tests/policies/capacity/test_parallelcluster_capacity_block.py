"""Queues of ParallelCluster in a Capacity Block (D1, D5, D7)."""

from __future__ import annotations

import pytest

from tests.support.policy import check
from tests.support.policy_programs import BLOCK_ID, rendered_cluster, reserved_queue, slurm
from trainyard.policies.rules.capacity.parallelcluster_capacity_block import POLICY

BLOCK = {"CapacityType": "CAPACITY_BLOCK"}
STATIC = {"MinCount": 2, "MaxCount": 2}


def in_block(nodes, **queue):
    return slurm(reserved_queue(BLOCK_ID, **BLOCK, **queue), nodes)


VIOLATING = ((slurm(BLOCK, STATIC),), (in_block({}),), (in_block({"MinCount": 1, "MaxCount": 2}),))
CLEAN = ((in_block(STATIC),),)


@pytest.mark.parametrize(
    ("made", "fix"),
    [
        (slurm(BLOCK, STATIC), "set CapacityReservationId to the cr- id of the Capacity Block"),
        (in_block({}), "set both to the number of nodes, above 0"),
        (in_block({"MinCount": 1, "MaxCount": 2}), "set both to the number of nodes, above 0"),
        (in_block({"MinCount": 0, "MaxCount": 0}), "set both to the number of nodes, above 0"),
        (in_block(STATIC, AllocationStrategy="lowest-price"), "remove AllocationStrategy"),
    ],
    ids=["no-block", "nothing-said", "dynamic", "none", "strategy"],
)
def test_fails(made, fix):
    (message,) = check(POLICY, made).messages
    assert message.startswith("slurm: in its compute resource gpu/p5, ")
    assert message.endswith(fix)


@pytest.mark.parametrize(
    "made",
    [
        in_block(STATIC),
        in_block({"MinCount": "2", "MaxCount": "2"}),
        in_block({"MinCount": {"Ref": "Nodes"}, "MaxCount": {"Ref": "Nodes"}}),
        slurm(
            {**BLOCK, "CapacityReservationTarget": {"CapacityReservationId": {"Ref": "Block"}}},
            STATIC,
        ),
        slurm({"AllocationStrategy": "lowest-price"}, {}),
    ],
    ids=["static", "as-text", "computed", "computed-id", "on-demand"],
)
def test_passes(made):
    assert check(POLICY, made).messages == []


def test_what_the_program_renders_is_what_the_rule_reads():
    """The queue of `pc-gpu` has four static nodes in an On-Demand reservation."""

    def as_block(cluster, **changes):
        queue = cluster["Scheduling"]["SlurmQueues"][0]
        queue["CapacityType"] = "CAPACITY_BLOCK"
        queue["ComputeResources"][0].update(changes)

    assert check(POLICY, rendered_cluster("pc-gpu", as_block)).messages == []
    dynamic = rendered_cluster("pc-gpu", lambda cluster: as_block(cluster, MinCount=0))
    assert len(check(POLICY, dynamic).messages) == 1
