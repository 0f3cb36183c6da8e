"""Markets of launches, and reserved capacity (D4)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import (
    EFA_NETWORK,
    OWN_ID,
    in_odcr,
    reserved_queue,
    slurm,
    template,
)
from trainyard.policies.rules.capacity.reserved_market import POLICY


def market(word):
    return {"instanceMarketOptions": {"marketType": word}}


VIOLATING = (
    (template(**market("spot")), *EFA_NETWORK),
    (template(**market("capacity_block")), *EFA_NETWORK),
    (slurm(reserved_queue(OWN_ID, CapacityType="SPOT"), {}),),
)
CLEAN = (
    (template(), *EFA_NETWORK),
    (in_odcr(OWN_ID), *EFA_NETWORK),
    (template("capacityReservationSpecification", **market("spot")), *EFA_NETWORK),
)


@pytest.mark.parametrize(
    ("program", "fix"),
    list(
        zip(
            VIOLATING,
            (
                "remove the market type spot or the capacity reservation target",
                "or leave it out",
                "remove the CapacityType SPOT or the capacity reservation target",
            ),
            strict=True,
        )
    ),
    ids=["spot", "misspelt", "queue"],
)
def test_fails(program, fix):
    (message,) = check(POLICY, *program).messages
    assert message.endswith(fix)


@pytest.mark.parametrize(
    "program",
    [
        *CLEAN,
        (template(**market("on-demand")),),
        (template(**market("interruptible-capacity-reservation")),),
        (slurm({"CapacityType": "SPOT"}, {}),),
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_a_market_that_is_not_known_yet_is_said():
    found = check(POLICY, template(instanceMarketOptions=UNKNOWN))
    assert (found.messages, len(found.undecided)) == ([], 1)
