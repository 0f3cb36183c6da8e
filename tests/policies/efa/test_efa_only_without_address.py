"""Separate EFA-only interfaces have no address (A15)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import EFA_NETWORK
from tests.support.policy_programs_eks import own_interface
from trainyard.policies.rules.efa.efa_only_without_address import POLICY

VIOLATING = ((own_interface("fabric", "efa-only", privateIps=["10.0.0.5"]), *EFA_NETWORK),)
CLEAN = (
    (own_interface("fabric", "efa-only"), *EFA_NETWORK),
    (own_interface("fabric", "efa", privateIps=["10.0.0.5"]), *EFA_NETWORK),
)


@pytest.mark.parametrize(
    "given",
    [{"privateIps": ["10.0.0.5"]}, {"ipv4PrefixCount": 1}, {"ipv6Addresses": [UNKNOWN]}],
    ids=["address", "prefix", "not-known-yet"],
)
def test_fails(given):
    (message,) = check(POLICY, own_interface("fabric", "efa-only", **given)).messages
    assert f"asks for {next(iter(given))}" in message


@pytest.mark.parametrize(
    "interface",
    [
        CLEAN[0][0],
        CLEAN[1][0],
        own_interface("fabric", None, privateIps=["10.0.0.5"]),
        own_interface("fabric", "efa-only", privateIpsCount=0),
    ],
)
def test_passes(interface):
    found = check(POLICY, interface)
    assert (found.messages, found.undecided) == ([], [])


def test_an_unknown_type_is_said():
    found = check(POLICY, own_interface("fabric", UNKNOWN, privateIps=["10.0.0.5"]))
    assert found.messages == []
    assert len(found.undecided) == 1
