"""The number of security groups of an environment for multi-node parallel jobs (G3)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import compute_environment, multi_node_job, single_node_job
from trainyard.policies.rules.batch.mnp_security_groups import POLICY


def environment(groups):
    return compute_environment(computeResources={"securityGroupIds": groups})


SIX, FIVE = ([f"sg-{index}" for index in range(count)] for count in (6, 5))
VIOLATING = ((multi_node_job(), environment(SIX)),)
RIGHT = {
    "five": (multi_node_job(), environment(FIVE)),
    "in-the-template": (multi_node_job(), compute_environment()),
    "no-multi-node-job": (single_node_job(), environment(SIX)),
}
CLEAN = tuple(RIGHT.values())


def test_fails():
    (message,) = check(POLICY, *VIOLATING[0]).messages
    assert "6 security groups, and multi-node parallel jobs support at most 5" in message


@pytest.mark.parametrize("program", RIGHT.values(), ids=RIGHT)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_new_groups_are_counted():
    assert check(POLICY, multi_node_job(), environment([UNKNOWN] * 6)).messages
