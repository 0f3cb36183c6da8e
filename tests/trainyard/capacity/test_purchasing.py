"""A purchase call happens once, and its missing answer is never taken for a refusal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError
from hypothesis import given
from hypothesis import strategies as st

from trainyard.capacity.block_purchase import VISIBLE_WITHIN, dry_run, looked_up, purchased

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
CALL = "ec2:PurchaseCapacityBlock"


def refused(code: str, status: int = 400) -> ClientError:
    metadata = {"HTTPStatusCode": status}
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": metadata}, "Purchase")  # type: ignore[arg-type]


def raising(error: Exception) -> Any:
    def do(**_: Any) -> Any:
        raise error

    return do


@pytest.mark.parametrize(
    ("error", "is_refusal"),
    [
        (refused("InvalidCapacityBlockOfferingIdExpired"), True),
        (refused("UnauthorizedOperation", 403), True),
        (refused("InvalidParameterValue"), True),
        (refused("RequestLimitExceeded", 503), True),
        (refused("InternalError", 500), False),
        (refused("Unavailable", 503), False),
        (refused("SomethingElse", 500), False),
        (refused("SomethingElse", 502), False),
        (ConnectionClosedError(endpoint_url="https://ec2"), False),
        (ReadTimeoutError(endpoint_url="https://ec2"), False),
    ],
)
def test_only_what_ec2_says_it_did_not_do_is_a_refusal(error: Exception, is_refusal: bool) -> None:
    answer = purchased(CALL, raising(error))
    assert answer.result is None
    assert bool(answer.refusal) is is_refusal
    assert bool(answer.silence) is not is_refusal


def test_an_expired_offering_says_to_search_again() -> None:
    answer = purchased(CALL, raising(refused("InvalidCapacityBlockOfferingIdExpired")))
    assert "search again" in answer.refusal


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (refused("DryRunOperation", 412), ""),
        (refused("UnauthorizedOperation", 403), "AWS denies ec2:PurchaseCapacityBlock"),
        (refused("InvalidCapacityBlockOfferingIdExpired"), "search again"),
        (ConnectionClosedError(endpoint_url="https://ec2"), "AWS gave no answer"),
    ],
)
def test_a_dry_run_says_what_would_be_refused(error: Exception, said: str) -> None:
    found = dry_run(CALL, raising(error))
    assert said in found
    assert bool(said) is bool(found)


def test_the_wait_is_as_long_as_aws_recommends() -> None:
    """https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html"""
    assert VISIBLE_WITHIN.total_seconds() >= 5 * 60


def test_no_look_is_more_than_half_a_minute_after_the_previous_one() -> None:
    waited: list[float] = []
    looked_up(lambda: None, NOW, NOW, tell=lambda _: None, sleep=waited.append)
    assert max(waited) <= 30
    assert waited[:3] == sorted(waited[:3])


@given(
    age_seconds=st.integers(-60, 1000),
    appears_after=st.one_of(st.none(), st.integers(0, 400)),
)
def test_nothing_is_taken_for_not_bought_within_five_minutes(
    age_seconds: int, appears_after: int | None
) -> None:
    waited: list[float] = []

    def look() -> str | None:
        age = max(age_seconds, 0) + sum(waited)
        return "cr" if appears_after is not None and age >= appears_after else None

    asked_at = NOW - timedelta(seconds=age_seconds)
    found = looked_up(look, asked_at, NOW, tell=lambda _: None, sleep=waited.append)
    limit = VISIBLE_WITHIN.total_seconds()
    if appears_after is not None and appears_after <= max(limit, age_seconds):
        assert found == "cr"
    if found is None:
        assert max(age_seconds, 0) + sum(waited) >= limit
    assert sum(waited) <= limit
