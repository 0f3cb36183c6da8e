"""Nodes with several interfaces get no public address (A10)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import EFA_NETWORK, node_group, template
from tests.support.policy_programs_eks import (
    asg,
    environment,
    fleet,
    on_demand,
    zonal_subnet,
)
from trainyard.policies.rules.efa.several_interfaces_private_subnet import POLICY

PUBLIC = zonal_subnet("public", mapPublicIpOnLaunch=True)
PRIVATE = zonal_subnet("private")
VIOLATING = (
    (template(), node_group(subnetIds=["public-id"]), PUBLIC, *EFA_NETWORK),
    (on_demand(), asg(vpcZoneIdentifiers=["public-id"]), PUBLIC, *EFA_NETWORK),
    (on_demand(), environment(subnets=["public-id"]), PUBLIC, *EFA_NETWORK),
    (on_demand(), fleet({"subnetId": "public-id"}), PUBLIC, *EFA_NETWORK),
)
CLEAN = ((template(), node_group(subnetIds=["private-id"]), PRIVATE, *EFA_NETWORK),)


@pytest.mark.parametrize("program", VIOLATING)
def test_fails(program):
    (message,) = check(POLICY, *program).messages
    assert "subnet public assigns public addresses only to instances with one" in message


def test_two_interfaces_are_several():
    """A type with one EFA interface has an EFA-only one next to its primary interface."""
    two = [{"deviceIndex": 0}, {"deviceIndex": 1, "interfaceType": "efa-only"}]
    launched = (on_demand(networkInterfaces=two), asg(vpcZoneIdentifiers=["public-id"]), PUBLIC)
    (message,) = check(POLICY, *launched).messages
    assert "has 2 network interfaces" in message


@pytest.mark.parametrize(
    "program",
    [
        CLEAN[0],
        (on_demand(), asg(), PUBLIC),
        (
            on_demand(networkInterfaces=[{"deviceIndex": 0}]),
            asg(vpcZoneIdentifiers=["public-id"]),
            PUBLIC,
        ),
        (on_demand(), asg(vpcZoneIdentifiers=[UNKNOWN]), PUBLIC),
    ],
    ids=["private", "subnet-made-elsewhere", "one-interface", "subnet-not-known"],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])
