"""A target requires `capacity-reservations-only` (C8, C9, C10)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import (
    EFA_NETWORK,
    OWN_ID,
    auto_scaling_group,
    in_odcr,
    reservation,
    template,
)
from trainyard.policies.rules.capacity.reservation_only_preference import POLICY

GROUP_ARN = "arn:aws:resource-groups:us-west-2:123456789012:group/p5"
INTO_GROUP = template(
    "instanceMarketOptions",
    capacityReservationSpecification={
        "capacityReservationTarget": {"capacityReservationResourceGroupArn": GROUP_ARN}
    },
)
VIOLATING = ((INTO_GROUP, *EFA_NETWORK),)
CLEAN = ((in_odcr(OWN_ID), *EFA_NETWORK),)


def odcr(preference):
    return template(
        "instanceMarketOptions",
        capacityReservationSpecification=reservation(OWN_ID, preference=preference),
    )


def test_fails_where_instances_may_run_on_demand_instead():
    (message,) = check(POLICY, INTO_GROUP).messages
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
        pytest.param(odcr(None), id="by-id-a-launch-beyond-it-fails"),
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


def group(preference):
    target = {"capacityReservationTarget": {"capacityReservationIds": [OWN_ID]}}
    return auto_scaling_group(
        capacityReservationSpecification={**target, "capacityReservationPreference": preference}
    )


def test_an_auto_scaling_group_has_preferences_of_its_own():
    """`capacity-reservations-first` explicitly requests On-Demand for the rest."""
    (message,) = check(POLICY, group("none")).messages
    assert message.startswith("p5-asg: it targets a reservation with the preference 'none'")
    for preference in ("capacity-reservations-only", "capacity-reservations-first", "default"):
        assert check(POLICY, group(preference)).messages == []
