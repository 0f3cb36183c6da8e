"""What EC2 refuses of a reservation that is created or changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.sandbox_aws import SCHEDULED, Account, refused
from trainyard.sandbox.aws.clock import CLOCK

PAST, FUTURE = datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
GROUP = "arn:aws:ec2:us-west-2:123456789012:placement-group"


def create(account: Account, **changes: Any) -> dict[str, Any]:
    given = {
        "InstanceType": "p4de.24xlarge",
        "InstancePlatform": "Linux/UNIX",
        "AvailabilityZone": "us-west-2b",
        "InstanceCount": 2,
    }
    made = account.ec2.create_capacity_reservation(**(given | changes))
    return made["CapacityReservation"]


def test_a_reservation_with_an_end_in_a_placement_group_is_created(account: Account) -> None:
    arn = f"{GROUP}/p4de-reserved"
    made = create(account, EndDate=FUTURE, EndDateType="limited", PlacementGroupArn=arn)
    assert (made["EndDateType"], made["PlacementGroupArn"]) == ("limited", arn)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"InstanceCount": 0}, "InvalidParameterValue"),
        ({"InstanceCount": 1001}, "InvalidParameterValue"),
        ({"EndDateType": "limited"}, "InvalidParameterCombination"),
        ({"EndDate": FUTURE}, "InvalidParameterCombination"),
        ({"EndDate": PAST, "EndDateType": "limited"}, "InvalidParameterValue"),
        ({"PlacementGroupArn": f"{GROUP}/nowhere"}, "InvalidPlacementGroup.Unknown"),
        ({"PlacementGroupArn": f"{GROUP}/apart"}, "InvalidParameterValue"),
    ],
)
def test_what_ec2_does_not_create_is_refused(
    account: Account, changes: dict[str, Any], code: str
) -> None:
    with refused(code):
        create(account, **changes)


FUTURE_DATED: dict[str, Any] = {
    "InstanceType": "g6e.48xlarge",
    "CommitmentDuration": 14 * 86_400,
    "DeliveryPreference": "incremental",
}


def test_a_future_dated_reservation_is_scheduled_and_then_committed(account: Account) -> None:
    start = CLOCK.now() + timedelta(days=6)
    made = create(account, **FUTURE_DATED, StartDate=start)
    reservation_id = made["CapacityReservationId"]
    assert (made["State"], made["AvailableInstanceCount"]) == ("scheduled", 0)
    CLOCK.advance(timedelta(days=7))
    found = account.reservation(reservation_id)
    assert (found["State"], found["AvailableInstanceCount"]) == ("active", 2)
    committed = found["CommitmentInfo"]["CommitmentEndDate"]
    assert abs(committed - start - timedelta(days=14)) < timedelta(seconds=1)
    cancel = account.ec2.cancel_capacity_reservation
    with refused("InvalidCapacityReservationState", "quote"):
        cancel(CapacityReservationId=reservation_id)
    CLOCK.advance(timedelta(days=14))
    cancel(CapacityReservationId=reservation_id)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"days": 4}, "5 and 120 days"),
        ({"days": 121}, "5 and 120 days"),
        ({"CommitmentDuration": None}, "CommitmentDuration"),
        ({"DeliveryPreference": "fixed"}, "incremental"),
        ({"InstanceType": "p4de.24xlarge"}, "families"),
        ({"InstanceType": "g6e.xlarge"}, "32 vCPUs"),
        ({"PlacementGroupArn": f"{GROUP}/p4de-reserved"}, "placement group"),
    ],
)
def test_what_ec2_does_not_reserve_for_later_is_refused(
    account: Account, changes: dict[str, Any], said: str
) -> None:
    start = CLOCK.now() + timedelta(days=changes.get("days", 6), hours=1)
    given = {**FUTURE_DATED, "StartDate": start} | changes
    with refused("InvalidParameterValue", said):
        create(account, **{k: v for k, v in given.items() if k != "days" and v is not None})


def test_a_commitment_needs_a_start(account: Account) -> None:
    with refused("InvalidParameterCombination", "StartDate"):
        create(account, **FUTURE_DATED)


def test_only_an_active_reservation_is_modified(account: Account) -> None:
    with refused("InvalidCapacityReservationState", "scheduled"):
        account.ec2.modify_capacity_reservation(CapacityReservationId=SCHEDULED, InstanceCount=3)


def test_an_end_is_set_and_removed(account: Account) -> None:
    made = create(account)["CapacityReservationId"]
    change = account.ec2.modify_capacity_reservation
    change(CapacityReservationId=made, EndDate=FUTURE, EndDateType="limited", InstanceCount=3)
    found = account.reservation(made)
    assert (found["TotalInstanceCount"], found["EndDate"]) == (3, FUTURE)
    change(CapacityReservationId=made, EndDateType="unlimited")
    assert "EndDate" not in account.reservation(made)
