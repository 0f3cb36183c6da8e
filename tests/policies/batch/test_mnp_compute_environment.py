"""Multi-node parallel jobs and the environments that can run them (G1)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import (
    IMAGES,
    compute_environment,
    multi_node_job,
    single_node_job,
    unknown_job,
)
from trainyard.policies.rules.batch.mnp_compute_environment import POLICY

SPOT = compute_environment(
    computeResources={"type": "SPOT", "allocationStrategy": "SPOT_PRICE_CAPACITY_OPTIMIZED"}
)
FARGATE = compute_environment(computeResources={"type": "FARGATE"})
UNMANAGED = compute_environment(type="UNMANAGED")

FAULTS = {
    "spot": ((multi_node_job(), SPOT), "buys Spot Instances"),
    "fargate": ((multi_node_job(), FARGATE), "runs on Fargate"),
    "unmanaged": ((multi_node_job(), UNMANAGED), "is unmanaged"),
    "new-image": ((unknown_job(), IMAGES, SPOT), "buys Spot Instances"),
}
VIOLATING = tuple(program for program, _ in FAULTS.values())
RIGHT = {
    "ours": (multi_node_job(), compute_environment()),
    "no-multi-node-job": (single_node_job(), SPOT),
    "environment-elsewhere": (multi_node_job(),),
    "kind-not-known": (multi_node_job(), compute_environment(computeResources={"type": UNKNOWN})),
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
