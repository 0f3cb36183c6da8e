"""Allocation strategies of ParallelCluster's queues (C14)."""

from __future__ import annotations

import pytest

from tests.support.policy import check
from tests.support.policy_programs import slurm
from trainyard.policies.rules.capacity.parallelcluster_allocation_strategy import POLICY

SPOT = "price-capacity-optimized"
VIOLATING = ((slurm({"AllocationStrategy": SPOT}, {}),),)
CLEAN = (
    (slurm({"AllocationStrategy": "lowest-price"}, {}),),
    (slurm({"AllocationStrategy": SPOT, "CapacityType": "SPOT"}, {}),),
)


def test_the_message_names_the_queue_and_the_strategy():
    (message,) = check(POLICY, *VIOLATING[0]).messages
    assert message == (
        "slurm: its queue gpu has On-Demand nodes and the allocation strategy "
        "price-capacity-optimized, which is for Spot; set AllocationStrategy to lowest-price, "
        "or remove it"
    )


@pytest.mark.parametrize(
    "made",
    [
        *(program[0] for program in CLEAN),
        slurm({}, {}),
        slurm({"AllocationStrategy": "prioritized"}, {}),
        slurm({"AllocationStrategy": {"Ref": "Strategy"}}, {}),
    ],
    ids=["lowest-price", "spot", "none", "prioritized", "computed"],
)
def test_passes(made):
    assert check(POLICY, made).messages == []
