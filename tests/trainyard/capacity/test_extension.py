"""Which Capacity Blocks can be extended, and for how long.

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-extend.html
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.reservation_answers import ACCOUNT, described
from trainyard.capacity.extension import extension_offerings, extension_problems
from trainyard.components.capacity import lookup as capacity_lookup
from trainyard.components.capacity.facts import ReservationFacts

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def block(*, since: timedelta = DAY, left: timedelta = 6 * DAY, **changes: Any) -> ReservationFacts:
    times = {"StartDate": NOW - since, "EndDate": NOW + left}
    return capacity_lookup.reservation_facts(
        described(ReservationType="capacity-block", **times, **changes)
    )


def problems(found: ReservationFacts, hours: int = 24) -> str:
    return " ".join(each.problem for each in extension_problems(found, hours, ACCOUNT, NOW))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (block(), ""),
        (block(State="scheduled"), ""),
        (block(State="payment-pending"), "its state is payment-pending"),
        (block(OwnerId="999988887777"), "only its owner, the account 999988887777"),
        (block(left=HOUR), ""),
        (block(left=HOUR - timedelta(seconds=1)), "until an hour before its end"),
        (block(left=56 * DAY), ""),
        (block(left=56 * DAY + HOUR), "in the last 56 days before its end"),
    ],
)
def test_a_block_is_extended_by_its_owner_from_56_days_to_an_hour_before_its_end(
    found: ReservationFacts, said: str
) -> None:
    assert said in problems(found)
    assert bool(said) is bool(problems(found))


@pytest.mark.parametrize(
    ("hours", "said"),
    [
        (24, ""),
        (25, "no extensions of this duration"),
        (14 * 24, ""),
        (15 * 24, "no extensions of this duration"),
        (21 * 24, ""),
    ],
)
def test_an_extension_has_a_duration_that_ec2_sells(hours: int, said: str) -> None:
    assert said in problems(block(), hours)
    assert bool(said) is bool(problems(block(), hours))


def test_a_block_lasts_at_most_182_days_with_its_extensions() -> None:
    old = block(since=162 * DAY, left=6 * DAY)
    assert problems(old, 14 * 24) == ""
    assert "at most 182 days" in problems(old, 21 * 24)


def test_the_cheapest_extension_comes_first() -> None:
    def offer(fee: str) -> dict[str, Any]:
        return {
            "CapacityBlockExtensionOfferingId": f"cbe-{fee}",
            "InstanceType": "p5.48xlarge",
            "InstanceCount": 4,
            "CapacityBlockExtensionStartDate": NOW,
            "CapacityBlockExtensionEndDate": NOW + DAY,
            "UpfrontFee": fee,
            "CurrencyCode": "USD",
        }

    pages = [{"CapacityBlockExtensionOfferings": [offer("900.5"), offer("80.0"), offer("1000")]}]
    reader: Any = SimpleNamespace(
        ec2=SimpleNamespace(describe_capacity_block_extension_offerings=None),
        pages=lambda *_, **__: pages,
        unreadable=[],
        region="us-west-2",
    )
    assert [str(each.fee) for each in extension_offerings(reader, block(), 24)] == [
        *("80.0", "900.5", "1000")
    ]
