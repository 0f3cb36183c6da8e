"""Lustre file systems, and the nodes that read them (F8)."""

from __future__ import annotations

import pytest

from tests.support.policy import check
from tests.support.policy_programs import (
    EFA_NETWORK,
    OTHER_ZONE,
    ZONE,
    auto_scaling_group,
    file_system,
    subnets,
    template,
)
from trainyard.policies.rules.storage.lustre_same_zone import POLICY

NODES = auto_scaling_group(vpcZoneIdentifiers=["subnet-1"])
VIOLATING = ((file_system(), template(), NODES, *subnets(OTHER_ZONE, ZONE), *EFA_NETWORK),)
CLEAN = ((file_system(), template(), NODES, *subnets(ZONE, ZONE), *EFA_NETWORK),)


def test_the_message_names_both_zones():
    (message,) = check(POLICY, *VIOLATING[0]).messages
    assert message == (
        "lustre: it is in us-west-2c, and the nodes of p5-asg are in us-west-2b; create it in a "
        "subnet of their zone"
    )


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(CLEAN[0], id="same-zone"),
        pytest.param((file_system(), template(), NODES), id="subnets-made-elsewhere"),
        pytest.param(
            (
                file_system(),
                template("networkInterfaces"),
                NODES,
                *subnets(OTHER_ZONE, ZONE),
            ),
            id="nodes-without-efa",
        ),
        pytest.param(
            (
                file_system(),
                template(),
                auto_scaling_group(vpcZoneIdentifiers=["subnet-0", "subnet-1"]),
                *subnets(OTHER_ZONE, ZONE),
            ),
            id="some-nodes-beside-it",
        ),
    ],
)
def test_passes(program):
    assert check(POLICY, *program).messages == []
