"""Thresholds of node repair (G7)."""

from __future__ import annotations

import pytest

from tests.support.policy import check
from tests.support.policy_programs_eks import eks_template, role, workers
from trainyard.policies.rules.kubernetes.eks_node_repair_thresholds import POLICY


def repaired(**config):
    return role("node-role"), eks_template(), workers(nodeRepairConfig={"enabled": True, **config})


FAULTS = {
    "unhealthy": repaired(maxUnhealthyNodeThresholdCount=2, maxUnhealthyNodeThresholdPercentage=10),
    "parallel": repaired(maxParallelNodesRepairedCount=1, maxParallelNodesRepairedPercentage=10),
}
VIOLATING = tuple(FAULTS.values())
RIGHT = {
    "defaults": repaired(),
    "one-of-each": repaired(maxUnhealthyNodeThresholdCount=2, maxParallelNodesRepairedPercentage=9),
}
CLEAN = tuple(RIGHT.values())


@pytest.mark.parametrize("program", FAULTS.values(), ids=FAULTS)
def test_fails(program):
    (message,) = check(POLICY, *program).messages
    assert "which EKS rejects; remove one of them" in message


@pytest.mark.parametrize("program", RIGHT.values(), ids=RIGHT)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])
