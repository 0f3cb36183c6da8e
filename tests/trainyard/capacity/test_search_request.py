"""A search asks EC2 only for what it sells, and names everything else at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.capacity.offerings import SearchRequest, moment, request_problems
from trainyard.components.catalog.capacity_blocks import is_duration

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


def request(**changes: object) -> SearchRequest:
    usual = {
        "instance_type": "p5.48xlarge",
        "nodes": 4,
        "days": 7,
        "regions": ("us-west-2",),
    }
    return SearchRequest(**usual | changes)


def paths(**changes: object) -> list[str]:
    return [each.path for each in request_problems(request(**changes), NOW)]


def test_durations_are_days_up_to_two_weeks_and_then_weeks() -> None:
    assert [d for d in range(-7, 400) if is_duration(d)] == [*range(1, 15), *range(21, 183, 7)]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, []),
        ({"nodes": 1}, []),
        ({"nodes": 64, "days": 182}, []),
        ({"nodes": 0}, ["--nodes"]),
        ({"nodes": 65}, ["--nodes"]),
        ({"days": 0}, ["--days"]),
        ({"days": 15}, ["--days"]),
        ({"days": 183}, ["--days"]),
        ({"instance_type": "g5.12xlarge"}, ["--type"]),
        ({"instance_type": "p5.49xlarge"}, ["--type"]),
        ({"instance_type": "u-p6e-gb200x72", "nodes": 1}, []),
        ({"instance_type": "u-6tb1.56xlarge"}, ["--type"]),
        ({"earliest": NOW + timedelta(weeks=8)}, []),
        ({"earliest": NOW + timedelta(weeks=8, hours=1)}, ["--from"]),
        ({"earliest": NOW - timedelta(hours=11)}, []),
        ({"earliest": NOW - timedelta(days=2)}, ["--from"]),
        ({"latest": NOW + timedelta(days=6)}, []),
        ({"latest": NOW + timedelta(days=5)}, ["--to"]),
        ({"regions": ("us-west-2", "nowhere")}, ["--regions"]),
        (
            {"instance_type": "m5.large", "nodes": 99, "days": 99, "regions": ("x",)},
            ["--type", "--nodes", "--days", "--regions"],
        ),
    ],
)
def test_what_ec2_would_refuse_is_refused_before_the_call(
    changes: dict[str, object], found: list[str]
) -> None:
    assert paths(**changes) == found


@given(st.integers(-400, 400))
def test_a_wrong_duration_is_answered_with_one_that_ec2_sells(days: int) -> None:
    for problem in request_problems(request(days=days), NOW):
        assert not is_duration(days)
        assert is_duration(int(problem.remedy.rpartition(" ")[2]))


def test_the_parameters_are_those_of_ec2() -> None:
    earliest, latest = NOW + timedelta(days=1), NOW + timedelta(days=20)
    assert request(earliest=earliest, latest=latest).parameters() == {
        "InstanceType": "p5.48xlarge",
        "InstanceCount": 4,
        "CapacityDurationHours": 168,
        "StartDateRange": earliest,
        "EndDateRange": latest,
    }
    assert request(instance_type="u-trn2x64", nodes=2).parameters() == {
        "UltraserverType": "u-trn2x64",
        "UltraserverCount": 2,
        "CapacityDurationHours": 168,
    }


def test_a_date_is_the_start_of_the_day_here() -> None:
    found = moment("2026-12-01")
    assert found == datetime(2026, 12, 1).astimezone()
    assert moment("2026-12-01T09:00+00:00") == datetime(2026, 12, 1, 9, tzinfo=UTC)
