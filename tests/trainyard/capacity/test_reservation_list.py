"""What is listed of a reservation, and which one can be released."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.reservation_answers import Reader, described
from trainyard.capacity.reservation_list import (
    ListedReservation,
    fees_by_reservation,
    listed_reservations,
    release_problems,
    stacks_by_reservation,
)
from trainyard.components.capacity import lookup as capacity_lookup
from trainyard.components.capacity.facts import ReservationFacts
from trainyard.stack_files.stack_files import StackFile

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


def listed(*, fees: dict[str, float] | None = None, **changes: Any) -> ListedReservation:
    reader: Any = Reader(described(**changes))
    (found,) = listed_reservations(reader, {"cr-00d00000000000001": ("prod-a",)}, NOW, fees=fees)
    return found


def test_the_use_names_who_runs_and_counts_instances_of_other_accounts() -> None:
    found = listed()
    assert found.use == "3 of 4: 2 used by prod-a, 1 by instances in other accounts"
    assert found.stacks == ("prod-a",)


@pytest.mark.parametrize(
    ("start", "end", "state", "hours"),
    [
        (-1, 6, "active", 144),
        (2, 9, "scheduled", 168),
        (-9, -2, "expired", None),
        (-1, None, "active", None),
    ],
)
def test_the_hours_left_are_those_in_which_it_can_be_used(
    start: int, end: int | None, state: str, hours: float | None
) -> None:
    times: dict[str, Any] = {"StartDate": NOW + timedelta(days=start)}
    if end is not None:
        times["EndDate"] = NOW + timedelta(days=end)
    assert listed(State=state, **times).hours_left == hours


@pytest.mark.parametrize(
    ("start", "end", "left"), [(-1, 6, 600), (2, 9, 700), (-9, -2, 0), (-1, None, None)]
)
def test_the_money_left_is_the_share_of_the_fee_for_the_time_left(
    start: int, end: int | None, left: float | None
) -> None:
    times: dict[str, Any] = {"StartDate": NOW + timedelta(days=start)}
    if end is not None:
        times["EndDate"] = NOW + timedelta(days=end)
    found = listed(fees={"cr-00d00000000000001": 700.0}, **times)
    assert (found.fee_usd, found.as_json()["left_usd"]) == (700, left)
    unknown = listed(**times)
    assert (unknown.fee_usd, unknown.left_usd) == (None, None)


def test_the_fees_are_those_of_stack_files() -> None:
    entries = {"one": {"reservation_id": "cr-1", "upfront_fee_usd": 5}, "two": {"kind": "odcr"}}
    content = {"config": {"trainyard:cluster": {"reservations": entries}}}
    assert fees_by_reservation([StackFile("a", Path("/Pulumi.a.yaml"), content)]) == {"cr-1": 5.0}


def test_stacks_name_reservations_by_id_and_as_members_of_a_group() -> None:
    def stack(name: str, region: str, **entries: Any) -> StackFile:
        cluster = {"reservations": entries}
        config = {"aws:region": region, "trainyard:cluster": cluster}
        return StackFile(name, Path(f"/Pulumi.{name}.yaml"), {"config": config})

    arn = "arn:aws:ec2:us-west-2:1:capacity-reservation/cr-2"
    found = stacks_by_reservation(
        [
            stack("a", "us-west-2", one={"reservation_id": "cr-1"}, two={"members": [arn, "cr-3"]}),
            stack("b", "us-west-2", one={"reservation_id": "cr-1"}, none={}),
            stack("c", "us-east-1", one={"reservation_id": "cr-1"}),
        ],
        "us-west-2",
    )
    assert found == {"cr-1": ("a", "b"), "cr-2": ("a",), "cr-3": ("a",)}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        ({"State": "delayed"}, ""),
        ({"ReservationType": "capacity-block"}, "neither cancels nor refunds"),
        ({"State": "scheduled"}, "only for a charge"),
        ({"CommitmentInfo": {"CommitmentEndDate": NOW + timedelta(days=1)}}, "committed to it"),
        ({"CommitmentInfo": {"CommitmentEndDate": NOW - timedelta(days=1)}}, ""),
    ],
)
def test_only_what_ec2_cancels_without_a_charge_is_released(
    changes: dict[str, Any], said: str
) -> None:
    found = " ".join(each.problem for each in release_problems(listed(**changes), NOW))
    assert said in found
    assert bool(said) is bool(found)


def test_tags_and_the_commitment_are_read() -> None:
    end = NOW + timedelta(days=1)
    tags = [{"Key": "a", "Value": "b"}]
    found = capacity_lookup.reservation_facts(
        described(Tags=tags, CommitmentInfo={"CommitmentEndDate": end})
    )
    assert isinstance(found, ReservationFacts)
    assert (found.committed_until, found.tags) == (end, {"a": "b"})
