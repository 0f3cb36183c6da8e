"""A reservation by its id, or a group of them (C8)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import EFA_NETWORK, ONLY, OWN_ID, in_odcr, slurm, template
from trainyard.policies.resources.types import INSTANCE
from trainyard.policies.rules.capacity.reservation_target_exclusive import POLICY

ARN = "arn:aws:resource-groups:us-west-2:123456789012:group/training"


def specification(**target):
    return {
        "capacityReservationSpecification": {
            "capacityReservationPreference": ONLY,
            "capacityReservationTarget": target,
        }
    }


BOTH = specification(capacityReservationId=OWN_ID, capacityReservationResourceGroupArn=ARN)
BOTH_OF_A_QUEUE = {
    "CapacityReservationTarget": {
        "CapacityReservationId": OWN_ID,
        "CapacityReservationResourceGroupArn": ARN,
    }
}
VIOLATING = (
    (template("instanceMarketOptions", **BOTH), *EFA_NETWORK),
    (slurm(BOTH_OF_A_QUEUE, {}),),
)
CLEAN = ((in_odcr(OWN_ID), *EFA_NETWORK),)


@pytest.mark.parametrize(
    "program",
    [
        *VIOLATING,
        (Declared(INSTANCE, "node", BOTH),),
        (
            Declared(
                INSTANCE,
                "node",
                specification(
                    capacityReservationId=UNKNOWN, capacityReservationResourceGroupArn=ARN
                ),
            ),
        ),
    ],
    ids=["template", "queue", "instance", "one-known-later"],
)
def test_fails(program):
    (message,) = check(POLICY, *program).messages
    assert "targets a reservation by id and a resource group, and EC2 accepts one" in message
    assert message.endswith("; remove the id or the ARN of the group")


@pytest.mark.parametrize(
    "program",
    [
        CLEAN[0],
        (Declared(INSTANCE, "node", specification(capacityReservationResourceGroupArn=ARN)),),
        (Declared(INSTANCE, "node", {}),),
        (slurm({}, {}),),
    ],
    ids=["id", "arn", "nothing", "queue-on-demand"],
)
def test_passes(program):
    assert check(POLICY, *program).messages == []
