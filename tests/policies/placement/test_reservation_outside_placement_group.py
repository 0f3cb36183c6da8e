"""A launch in a placement group with a reservation outside of it (B9)."""

from __future__ import annotations

import pytest

from tests.support.policy import Declared, check
from tests.support.policy_programs import EFA_NETWORK, into, odcr
from tests.support.policy_programs_eks import TOGETHER, on_demand, placed
from trainyard.policies.rules.placement.reservation_outside_placement_group import POLICY

ARN = "arn:aws:ec2:us-west-2:123456789012:placement-group/together"
VIOLATING = (
    (placed(into()), TOGETHER, odcr(), *EFA_NETWORK),
    (placed(on_demand()), TOGETHER, odcr(), *EFA_NETWORK),
)
CLEAN = (
    (placed(into()), TOGETHER, odcr(placementGroupArn=ARN), *EFA_NETWORK),
    (into(), TOGETHER, odcr(), *EFA_NETWORK),
)


@pytest.mark.parametrize("program", VIOLATING, ids=["targeted", "open"])
def test_advises(program):
    (message,) = check(POLICY, *program).messages
    assert "the reservation odcr was made outside of one" in message
    assert message.endswith("set its placement_group_arn, or remove the placement group")


NONE = {"capacityReservationPreference": "none"}


@pytest.mark.parametrize(
    "program",
    [
        *(pytest.param(program, id=f"clean-{i}") for i, program in enumerate(CLEAN)),
        pytest.param(
            (placed(on_demand()), TOGETHER, odcr(instanceMatchCriteria="targeted")),
            id="only-for-those-that-target-it",
        ),
        pytest.param(
            (placed(on_demand()), TOGETHER, odcr(instanceType="p4d.24xlarge")), id="another-type"
        ),
        pytest.param(
            (placed(on_demand(instanceType="m5.large")), TOGETHER, odcr()), id="launch-of-another"
        ),
    ],
)
def test_passes(program):
    found = check(POLICY, *program, *EFA_NETWORK)
    assert (found.messages, found.undecided) == ([], [])


def test_a_launch_that_keeps_out_of_reservations_passes():
    made = placed(on_demand())
    props = {**made.props, "capacityReservationSpecification": NONE}
    program = Declared(made.type, made.name, props, made.depends), TOGETHER, odcr()
    assert check(POLICY, *program).messages == []
