"""The values of a capacity reservation preference (C9)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import EFA_NETWORK, auto_scaling_group, template
from trainyard.policies.rules.capacity.reservation_preference_known import POLICY


def preferring(word):
    return {"capacityReservationSpecification": {"capacityReservationPreference": word}}


FIRST = "capacity-reservations-first"
VIOLATING = ((template("instanceMarketOptions", **preferring("targeted")), *EFA_NETWORK),)
CLEAN = ((template("instanceMarketOptions", **preferring("open")), *EFA_NETWORK),)


@pytest.mark.parametrize(
    ("resource", "allowed"),
    [
        (template(**preferring(FIRST)), "capacity-reservations-only, open or none"),
        (
            auto_scaling_group(**preferring("open")),
            "capacity-reservations-only, capacity-reservations-first, none or default",
        ),
    ],
    ids=["word-of-auto-scaling", "word-of-ec2"],
)
def test_each_of_the_two_has_words_of_its_own(resource, allowed):
    (message,) = check(POLICY, resource).messages
    assert message.endswith(f"; set capacity_reservation_preference to {allowed}")


@pytest.mark.parametrize(
    "resource",
    [
        template(),
        *(template(**preferring(word)) for word in ("capacity-reservations-only", "none")),
        *(auto_scaling_group(**preferring(word)) for word in (FIRST, "default")),
        auto_scaling_group(),
    ],
)
def test_passes(resource):
    found = check(POLICY, resource)
    assert (found.messages, found.undecided) == ([], [])


def test_a_preference_that_is_not_known_yet_is_said():
    found = check(POLICY, template(**preferring(UNKNOWN)))
    assert (found.messages, len(found.undecided)) == ([], 1)
