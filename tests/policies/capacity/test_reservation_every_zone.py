"""Zones without reserved capacity (C7, D3; pain 7)."""

from __future__ import annotations

import pytest

from tests.support.policy import check
from tests.support.policy_programs import (
    EFA_NETWORK,
    OTHER_ZONE,
    ZONE,
    auto_scaling_group,
    into,
    odcr,
    pool,
    subnet_ids,
    subnets,
    targets,
)
from trainyard.policies.rules.capacity.reservation_every_zone import POLICY

TWO = auto_scaling_group(vpcZoneIdentifiers=subnet_ids(2))
ONE = auto_scaling_group(vpcZoneIdentifiers=subnet_ids(1))
BOTH = subnets(ZONE, OTHER_ZONE)
VIOLATING = ((odcr(), into(), TWO, *BOTH, *EFA_NETWORK),)
CLEAN = ((odcr(), into(), ONE, *subnets(ZONE), *EFA_NETWORK),)


def test_the_message_names_the_zone_without_capacity():
    (message,) = check(POLICY, *VIOLATING[0]).messages
    assert message == (
        "p5-asg: it also launches in us-west-2c, where odcr has no capacity; remove the subnets of "
        "those zones"
    )


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(CLEAN[0], id="clean"),
        pytest.param((odcr(), into(), ONE, *subnets(OTHER_ZONE)), id="none-is-another-rule"),
        pytest.param((odcr(), into(), TWO, *subnets(ZONE, ZONE)), id="two-subnets-of-the-zone"),
        pytest.param(
            (
                odcr(),
                odcr("other", availabilityZone=OTHER_ZONE),
                *pool("odcr", "other"),
                into("pool"),
                TWO,
                *BOTH,
            ),
            id="a-reservation-in-each",
        ),
        pytest.param(
            (
                odcr(),
                *pool("odcr"),
                into("pool", capacityReservationSpecification=targets("pool", preference=None)),
                TWO,
                *BOTH,
            ),
            id="on-demand-elsewhere",
        ),
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])
