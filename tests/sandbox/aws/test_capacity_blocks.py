"""Capacity Blocks are offered, bought and extended as in EC2."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto.ec2 import ec2_backends

from tests.support.sandbox_aws import BLOCK, EXPIRED, ODCR, SCHEDULED, Account, refused
from trainyard.components.catalog.capacity_blocks import BOUGHT_TAG, TYPE_TAG
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.capacity_block_terms import MOST_OFFERINGS
from trainyard.sandbox.aws.ec2.capacity_blocks import offered_periods
from trainyard.sandbox.aws.ec2.capacity_reservations import reservations_of
from trainyard.sandbox.aws.environment import ACCOUNT_ID
from trainyard.sandbox.aws.transitions import TRANSITIONS

LINUX = "Linux/UNIX"
DAY, WEEK = 24, 24 * 7


def offerings(account: Account, **asked: Any) -> list[dict[str, Any]]:
    request = {"InstanceType": "p5.48xlarge", "InstanceCount": 2, "CapacityDurationHours": WEEK}
    return account.ec2.describe_capacity_block_offerings(**request | asked)[
        "CapacityBlockOfferings"
    ]


def buy(account: Account, offering: dict[str, Any], **more: Any) -> dict[str, Any]:
    return account.ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offering["CapacityBlockOfferingId"], InstancePlatform=LINUX, **more
    )["CapacityReservation"]


def bought_count(reservation: dict[str, Any]) -> str:
    return {tag["Key"]: tag["Value"] for tag in reservation["Tags"]}[BOUGHT_TAG]


@given(
    hours=st.integers(1, 182).map(lambda days: days * DAY),
    later=st.integers(0, 60 * DAY),
)
def test_every_period_ends_at_half_past_eleven_and_starts_within_eight_weeks(
    hours: int, later: int
) -> None:
    now = CLOCK.now()
    earliest = now + timedelta(hours=later)
    for starts_at, ends_at in offered_periods(hours, earliest=earliest, latest=None):
        assert (ends_at.hour, ends_at.minute, ends_at.second) == (11, 30, 0)
        assert max(earliest, now + timedelta(minutes=30)) <= starts_at
        assert starts_at <= now + timedelta(weeks=8, seconds=1)
        assert abs((ends_at - starts_at) - timedelta(hours=hours)) <= timedelta(days=1)


def test_offerings_are_the_earliest_of_every_zone_with_a_price(account: Account) -> None:
    found = offerings(account)
    assert len(found) == MOST_OFFERINGS
    assert {each["AvailabilityZone"] for each in found} == {"us-west-2b", "us-west-2d"}
    starts = [each["StartDate"] for each in found]
    assert starts == sorted(starts)
    for each in found:
        assert float(each["UpfrontFee"]) > 0
        assert each["CurrencyCode"] == "USD"
        length = each["EndDate"] - each["StartDate"]
        assert length == timedelta(
            hours=each["CapacityBlockDurationHours"], minutes=each["CapacityBlockDurationMinutes"]
        )


def test_dates_limit_the_offerings(account: Account) -> None:
    start = datetime.now(UTC) + timedelta(days=10)
    found = offerings(account, StartDateRange=start, EndDateRange=start + timedelta(days=9))
    assert found
    assert all(each["StartDate"] >= start.replace(microsecond=0) for each in found)
    assert all(each["EndDate"] <= start + timedelta(days=9) for each in found)
    assert offerings(account, StartDateRange=start, EndDateRange=start + timedelta(days=1)) == []


@pytest.mark.parametrize(
    ("asked", "code", "words"),
    [
        ({"InstanceType": "g5.12xlarge"}, "InvalidParameterValue", "not supported for Capacity"),
        ({"InstanceType": "p5e.48xlarge"}, "CapacityBlockDescribeLimitExceeded", "limits"),
        ({"InstanceCount": 65}, "InvalidParameterValue", "InstanceCount"),
        ({"CapacityDurationHours": 36}, "InvalidParameterValue", "CapacityDurationHours"),
        ({"CapacityDurationHours": 15 * DAY}, "InvalidParameterValue", "CapacityDurationHours"),
        ({"DryRun": True}, "DryRunOperation", ""),
    ],
)
def test_searches_are_refused_as_by_ec2(
    account: Account, asked: dict[str, Any], code: str, words: str
) -> None:
    with refused(code, words):
        offerings(account, **asked)


def test_a_block_is_paid_then_scheduled_and_active_at_its_start(account: Account) -> None:
    offering = offerings(account)[-1]
    bought = buy(account, offering)
    assert bought["ReservationType"] == "capacity-block"
    assert bought["State"] == "payment-pending"
    assert (bought["StartDate"], bought["EndDate"]) == (offering["StartDate"], offering["EndDate"])
    found = account.reservation(bought["CapacityReservationId"])
    assert (found["State"], found["AvailableInstanceCount"]) == ("scheduled", 0)
    CLOCK.advance(offering["StartDate"] - CLOCK.now())
    found = account.reservation(bought["CapacityReservationId"])
    assert (found["State"], found["AvailableInstanceCount"]) == ("active", 2)
    with refused("InvalidCapacityReservationState", "cannot be cancelled"):
        account.ec2.cancel_capacity_reservation(
            CapacityReservationId=bought["CapacityReservationId"]
        )


def test_with_the_time_of_aws_a_payment_is_pending_for_minutes(account: Account) -> None:
    TRANSITIONS.scale = 1
    bought = buy(account, offerings(account)[-1])
    assert account.reservation(bought["CapacityReservationId"])["State"] == "payment-pending"
    CLOCK.advance(timedelta(minutes=10))
    assert account.reservation(bought["CapacityReservationId"])["State"] == "scheduled"


def test_an_ultraserver_is_sold_whole_and_terminated_an_hour_before_its_end(
    account: Account,
) -> None:
    """EC2 sells it in Ohio."""
    ec2 = account.client("ec2", "us-east-2")
    asked = {"UltraserverType": "u-trn2x64", "CapacityDurationHours": WEEK}
    search = partial(ec2.describe_capacity_block_offerings, **asked)
    offering = search(UltraserverCount=1)["CapacityBlockOfferings"][-1]
    assert (offering["UltraserverType"], offering["UltraserverCount"]) == ("u-trn2x64", 1)
    assert float(offering["UpfrontFee"]) == pytest.approx(143.04 * WEEK)
    bought = ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offering["CapacityBlockOfferingId"], InstancePlatform=LINUX
    )
    found, (block,) = bought["CapacityReservation"], bought["CapacityBlocks"]
    assert (found["InstanceType"], bought_count(found)) == ("trn2u.48xlarge", "4")
    assert block["CapacityReservationIds"] == [found["CapacityReservationId"]]
    assert block["CapacityBlockId"] == found["CapacityBlockId"]
    sold = {"StartDateRange": offering["StartDate"], "EndDateRange": offering["EndDate"]}
    assert search(UltraserverCount=1, **sold)["CapacityBlockOfferings"]
    assert not search(UltraserverCount=2, **sold)["CapacityBlockOfferings"]
    backend = ec2_backends[ACCOUNT_ID]["us-east-2"]
    reservation = reservations_of(backend).with_id(found["CapacityReservationId"])
    assert ec2.describe_capacity_block_status()["CapacityBlockStatuses"] == []
    CLOCK.advance(offering["EndDate"] - timedelta(minutes=61) - CLOCK.now())
    (status,) = ec2.describe_capacity_block_status()["CapacityBlockStatuses"]
    assert (status["CapacityBlockId"], status["InterconnectStatus"]) == (
        found["CapacityBlockId"],
        "ok",
    )
    assert not reservation.terminates_instances
    CLOCK.advance(timedelta(minutes=1))
    assert reservation.terminates_instances


@pytest.mark.parametrize(
    "asked",
    [
        {"UltraserverType": "u-trn3x64"},
        {"InstanceTypePreferences": [{"InstanceType": "p5.48xlarge"}]},
    ],
)
def test_a_search_that_is_not_emulated_fails(account: Account, asked: dict[str, Any]) -> None:
    with refused("SandboxNotImplemented"):
        account.ec2.describe_capacity_block_offerings(**asked, CapacityDurationHours=WEEK)


def test_a_block_has_no_instances_before_its_start_and_a_tag_with_what_was_bought(
    account: Account,
) -> None:
    """aws/aws-parallelcluster, cli/src/pcluster/aws/aws_resources.py at 451cc5320d5d."""
    block = account.reservation(SCHEDULED)
    assert (block["State"], block["TotalInstanceCount"]) == ("scheduled", 0)
    assert (block["AvailableInstanceCount"], block["CapacityAllocations"]) == (0, [])
    tags = {tag["Key"]: tag["Value"] for tag in block["Tags"]}
    assert (tags[BOUGHT_TAG], tags[TYPE_TAG]) == ("2", "capacity-block")
    CLOCK.advance(timedelta(days=3))
    started = account.reservation(SCHEDULED)
    assert (started["State"], started["TotalInstanceCount"]) == ("active", 2)
    assert started["AvailableInstanceCount"] == 2


def test_a_purchase_is_found_by_the_tags_that_it_sets(account: Account) -> None:
    tags = [{"Key": "trainyard:purchase", "Value": "a1"}]
    given = [{"ResourceType": "capacity-reservation", "Tags": tags}]
    bought = buy(account, offerings(account)[0], TagSpecifications=given)
    filters = [{"Name": "tag:trainyard:purchase", "Values": ["a1"]}]
    found = account.ec2.describe_capacity_reservations(Filters=filters)["CapacityReservations"]
    assert [each["CapacityReservationId"] for each in found] == [bought["CapacityReservationId"]]


def test_a_dry_run_buys_nothing(account: Account) -> None:
    before = len(account.ec2.describe_capacity_reservations()["CapacityReservations"])
    with refused("DryRunOperation"):
        buy(account, offerings(account)[0], DryRun=True)
    after = len(account.ec2.describe_capacity_reservations()["CapacityReservations"])
    assert after == before


def test_an_offering_ends_when_others_buy_its_instances_or_its_start_passes(
    account: Account,
) -> None:
    all_of_them = offerings(account, InstanceCount=8)
    buy(account, all_of_them[-1])
    with refused("InvalidCapacityBlockOfferingIdExpired", "no longer available"):
        buy(account, all_of_them[-1])
    in_zone_d = next(e for e in offerings(account) if e["AvailabilityZone"] == "us-west-2d")
    CLOCK.advance(timedelta(days=60))
    with refused("InvalidCapacityBlockOfferingIdExpired"):
        buy(account, in_zone_d)


@pytest.mark.parametrize(
    ("offering_id", "code"),
    [
        ("cb-00000000000000000", "InvalidCapacityBlockOfferingIdNotFound"),
        ("nonsense", "InvalidCapacityBlockOfferingIdMalformed"),
    ],
)
def test_an_unknown_offering_is_not_bought(account: Account, offering_id: str, code: str) -> None:
    with refused(code):
        buy(account, {"CapacityBlockOfferingId": offering_id})


def extension(account: Account, reservation_id: str, hours: int) -> dict[str, Any]:
    (found,) = account.ec2.describe_capacity_block_extension_offerings(
        CapacityReservationId=reservation_id, CapacityBlockExtensionDurationHours=hours
    )["CapacityBlockExtensionOfferings"]
    return found


def test_an_extension_moves_the_end_and_is_in_the_history(account: Account) -> None:
    before = account.reservation(BLOCK)
    offered = extension(account, BLOCK, WEEK)
    assert offered["CapacityBlockExtensionStartDate"] == before["EndDate"]
    given = {"CapacityBlockExtensionOfferingId": offered["CapacityBlockExtensionOfferingId"]}
    (bought,) = account.ec2.purchase_capacity_block_extension(CapacityReservationId=BLOCK, **given)[
        "CapacityBlockExtensions"
    ]
    assert bought["CapacityBlockExtensionStatus"] == "payment-pending"
    assert account.reservation(BLOCK)["EndDate"] == offered["CapacityBlockExtensionEndDate"]
    (found,) = account.ec2.describe_capacity_block_extension_history(
        CapacityReservationIds=[BLOCK],
        Filters=[
            {
                "Name": "capacity-block-extension-offering-id",
                "Values": [offered["CapacityBlockExtensionOfferingId"]],
            }
        ],
    )["CapacityBlockExtensions"]
    assert found["CapacityBlockExtensionStatus"] == "payment-succeeded"


@pytest.mark.parametrize(
    ("reservation_id", "hours", "code"),
    [
        (BLOCK, 5, "InvalidParameterValue"),
        (BLOCK, 26 * WEEK, "InvalidParameterValue"),
        (EXPIRED, WEEK, "InvalidCapacityReservationState"),
        (ODCR, WEEK, "InvalidParameterValue"),
    ],
)
def test_extensions_are_refused_as_by_ec2(
    account: Account, reservation_id: str, hours: int, code: str
) -> None:
    with refused(code):
        extension(account, reservation_id, hours)


def test_an_extension_waits_for_the_payment_of_the_one_before(account: Account) -> None:
    TRANSITIONS.scale = 1
    offered = extension(account, SCHEDULED, DAY)
    account.ec2.purchase_capacity_block_extension(
        CapacityReservationId=SCHEDULED,
        CapacityBlockExtensionOfferingId=offered["CapacityBlockExtensionOfferingId"],
    )
    with refused("InvalidCapacityReservationState"):
        extension(account, SCHEDULED, DAY)
    CLOCK.advance(timedelta(minutes=10))
    assert account.reservation(SCHEDULED)["EndDate"] == offered["CapacityBlockExtensionEndDate"]
    assert extension(account, SCHEDULED, DAY)
