"""Networks that can reach the public endpoint of a cluster (H5)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from trainyard.policies.resources.types import EKS_CLUSTER
from trainyard.policies.rules.security.eks_public_endpoint_restricted import POLICY


def cluster(**vpc_config):
    vpc_config = {"subnetIds": ["subnet-a", "subnet-b"], **vpc_config}
    return Declared(EKS_CLUSTER, "cluster", {"vpcConfig": vpc_config})


FAULTS = {
    "silence": cluster(),
    "public": cluster(endpointPublicAccess=True, endpointPrivateAccess=True),
    "no-network": cluster(publicAccessCidrs=[]),
    "world": cluster(publicAccessCidrs=["192.0.2.0/24", "0.0.0.0/0"]),
    "world-over-ipv6": cluster(publicAccessCidrs=["::/0"]),
}
VIOLATING = tuple((declared,) for declared in FAULTS.values())
RIGHT = {
    "office": cluster(publicAccessCidrs=["192.0.2.0/24"]),
    "private": cluster(endpointPublicAccess=False, endpointPrivateAccess=True),
}
CLEAN = tuple((declared,) for declared in RIGHT.values())


@pytest.mark.parametrize("declared", FAULTS.values(), ids=FAULTS)
def test_fails(declared):
    (message,) = check(POLICY, declared).messages
    assert "open to the whole internet" in message


@pytest.mark.parametrize("declared", RIGHT.values(), ids=RIGHT)
def test_passes(declared):
    found = check(POLICY, declared)
    assert (found.messages, found.undecided) == ([], [])


def test_networks_that_are_not_known_yet_are_said():
    found = check(POLICY, cluster(publicAccessCidrs=UNKNOWN))
    assert found.messages == []
    assert "cluster.vpcConfig.publicAccessCidrs" in found.undecided[0]
