"""Compute environments that Batch updates in place (pain 9, DF-12)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import compute_environment
from trainyard.policies.rules.batch.compute_environment_updatable import POLICY

VIOLATING = ((compute_environment(serviceRole="arn:aws:iam::123456789012:role/batch"),),)
CLEAN = ((compute_environment(),),)

OWN = "arn:aws:iam::123456789012:role/AWSBatchServiceRole"
LINKED = (
    "arn:aws:iam::123456789012:role/aws-service-role/batch.amazonaws.com/AWSServiceRoleForBatch"
)


def of(**resources):
    return compute_environment(computeResources=resources)


def versioned(version):
    return of(launchTemplate={"launchTemplateId": "lt-1", "version": version})


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        (compute_environment(serviceRole=OWN), "remove service_role"),
        (compute_environment(serviceRole=UNKNOWN), "remove service_role"),
        (of(allocationStrategy="BEST_FIT"), "BEST_FIT cannot be updated in place"),
        (of(allocationStrategy=None), "BEST_FIT cannot be updated in place"),
        (of(allocationStrategy="BEST_FIT_PROGRESSIVE_ORDERED"), "_ORDERED cannot be updated in"),
        (versioned("$Latest"), "uses version $Latest"),
        (versioned("$Default"), "uses version $Default"),
        (versioned(None), "uses version $Default"),
    ],
    ids=[
        "own-role",
        "new-role",
        "best-fit",
        "silence",
        "in-order",
        "latest",
        "default",
        "no-version",
    ],
)
def test_fails(program, fault):
    (message,) = check(POLICY, program).messages
    assert fault in message


@pytest.mark.parametrize(
    "program",
    [
        compute_environment(),
        compute_environment(serviceRole=LINKED),
        of(type="SPOT", allocationStrategy="SPOT_PRICE_CAPACITY_OPTIMIZED"),
        versioned(UNKNOWN),
        of(launchTemplate=None),
        of(type="FARGATE", allocationStrategy=None, launchTemplate=None),
        of(type="ECS_MANAGED_INSTANCES", allocationStrategy=None, launchTemplate=None),
        compute_environment(type="UNMANAGED", serviceRole=OWN),
    ],
    ids=[
        "ours",
        "linked-role",
        "spot",
        "new-version",
        "no-template",
        "fargate",
        "managed-instances",
        "unmanaged",
    ],
)
def test_passes(program):
    assert check(POLICY, program).messages == []


def test_a_strategy_that_is_not_known_yet_is_left_open():
    assert check(POLICY, of(allocationStrategy=UNKNOWN)).undecided
