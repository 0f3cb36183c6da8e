"""A target comes with `capacity-reservations-only` (C8, C9, C10)."""

from __future__ import annotations

import pytest

from policies.rules.capacity.reservation_only_preference import POLICY
from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import OWN_ID, in_odcr, reservation, template


def odcr(preference):
    return template(
        "instanceMarketOptions",
        capacityReservationSpecification=reservation(OWN_ID, preference=preference),
    )


def test_fails_where_instances_may_run_on_demand_instead():
    (message,) = check(POLICY, odcr(None)).messages
    assert "may run On-Demand" in message
    assert message.endswith("set capacity_reservation_preference to capacity-reservations-only")


@pytest.mark.parametrize("preference", ["open", "none"])
def test_fails_for_a_preference_that_ec2_refuses_beside_a_target(preference):
    (message,) = check(POLICY, odcr(preference)).messages
    assert repr(preference) in message


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(in_odcr(OWN_ID), id="only-reserved"),
        pytest.param(odcr(UNKNOWN), id="known-later"),
        pytest.param(template("capacityReservationSpecification"), id="no-target"),
        pytest.param(
            template(capacityReservationSpecification=reservation(preference=None)), id="block"
        ),
        pytest.param(
            template(
                "instanceMarketOptions",
                capacityReservationSpecification={"capacityReservationPreference": "open"},
            ),
            id="open-without-target",
        ),
    ],
)
def test_passes(program):
    assert check(POLICY, program).messages == []
