"""Who can open SSH connections to the head node of a ParallelCluster (H1)."""

from __future__ import annotations

from typing import Any

import pytest

from policies.rules.security.parallelcluster_ssh_restricted import POLICY
from tests.support.policy import Declared, check
from tests.support.policy_programs_storage import rendered_cluster


def cluster(**ssh: Any) -> Declared:
    return rendered_cluster("pc-gpu", lambda made: made["HeadNode"].update(Ssh=ssh))


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
