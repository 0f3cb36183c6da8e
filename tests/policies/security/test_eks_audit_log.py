"""The audit log of a cluster (H5)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from trainyard.policies.resources.types import EKS_CLUSTER
from trainyard.policies.rules.security.eks_audit_log import POLICY


def cluster(**props):
    return Declared(EKS_CLUSTER, "cluster", props)


VIOLATING = ((cluster(),), (cluster(enabledClusterLogTypes=["api", "scheduler"]),))
CLEAN = ((cluster(enabledClusterLogTypes=["api", "audit"]),),)


@pytest.mark.parametrize("program", VIOLATING, ids=["none", "others"])
def test_fails(program):
    (message,) = check(POLICY, *program).messages
    assert "add audit to enabled_cluster_log_types" in message


def test_passes():
    found = check(POLICY, *CLEAN[0])
    assert (found.messages, found.undecided) == ([], [])


def test_logs_that_are_not_known_yet_are_said():
    found = check(POLICY, cluster(enabledClusterLogTypes=UNKNOWN))
    assert found.messages == []
    assert "cluster.enabledClusterLogTypes" in found.undecided[0]
