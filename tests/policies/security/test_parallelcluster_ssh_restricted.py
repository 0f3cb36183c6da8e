"""Networks that can open SSH connections to the head node of a ParallelCluster (H5)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.policy import Declared, check
from tests.support.policy_programs import rendered_cluster
from trainyard.policies.rules.security.parallelcluster_ssh_restricted import POLICY


def cluster(**ssh: Any) -> Declared:
    return rendered_cluster("pc-gpu", lambda made: made["HeadNode"].update(Ssh=ssh))


def with_own_groups(made: dict[str, Any]) -> None:
    """ParallelCluster does not open a port in a security group that it does not create."""
    networking = made["HeadNode"]["Networking"]
    made["HeadNode"] |= {"Networking": {**networking, "SecurityGroups": ["sg-1"]}, "Ssh": {}}


FAULTS = {
    "silence": cluster(),
    "key": cluster(KeyName="me"),
    "world": cluster(AllowedIps="0.0.0.0/0"),
}
VIOLATING = tuple((declared,) for declared in FAULTS.values())
RIGHT = {
    "office": cluster(AllowedIps="192.0.2.0/24"),
    "computed": cluster(AllowedIps={"Ref": "Network"}),
    "rendered": rendered_cluster("pc-gpu", lambda made: None),
    "own-groups": rendered_cluster("pc-gpu", with_own_groups),
}
CLEAN = tuple((declared,) for declared in RIGHT.values())


@pytest.mark.parametrize("declared", FAULTS.values(), ids=FAULTS)
def test_fails(declared: Declared) -> None:
    (message,) = check(POLICY, declared).messages
    assert "accepts SSH connections from every address" in message


@pytest.mark.parametrize("declared", RIGHT.values(), ids=RIGHT)
def test_passes(declared: Declared) -> None:
    found = check(POLICY, declared)
    assert (found.messages, found.undecided) == ([], [])
