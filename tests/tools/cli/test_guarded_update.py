"""Inputs of the guard other than the steps: the last update, the reservations, the time left."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.stacks import account_facts
from tools.cli.guarded_update import deployed_cluster, is_idle, time_left

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


def update(kind="update", result="succeeded", **cluster):
    config = {"trainyard:cluster": {"value": json.dumps(cluster), "secret": False}}
    return {"kind": kind, "result": result, "config": config}


def test_the_last_update_that_succeeded_is_what_is_deployed():
    history = [
        update(result="failed", name="broken"),
        update(kind="refresh", name="refreshed"),
        update(name="newest"),
        update(name="older"),
    ]
    assert deployed_cluster(history) == {"name": "newest"}


@pytest.mark.parametrize("history", [[], [update(result="failed")], [{"kind": "update"}]])
def test_without_one_nothing_is_known(history):
    assert deployed_cluster(history) is None


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (datetime(2026, 12, 7, 13, tzinfo=UTC), "2026-12-07 13:00 UTC, 6 d 1 h from now"),
        (datetime(2026, 12, 1, 13, 5, tzinfo=UTC), "2026-12-01 13:05 UTC, 1 h 5 min from"),
        (datetime(2026, 11, 30, tzinfo=UTC), "2026-11-30 00:00 UTC, 0 s from now"),
    ],
)
def test_the_time_left_of_a_block_is_said_in_words(end, words):
    assert time_left(end, NOW).startswith(words)


@pytest.mark.parametrize(
    ("since_start", "before_end", "idle"),
    [
        (timedelta(hours=-1), timedelta(days=7), True),
        (timedelta(hours=1), timedelta(days=6), False),
        (timedelta(days=6), timedelta(minutes=31), False),
        (timedelta(days=6), timedelta(minutes=30), True),
        (timedelta(days=8), timedelta(days=-1), True),
    ],
)
def test_a_block_is_idle_before_its_start_and_when_ec2_terminates_its_instances(
    since_start, before_end, idle
):
    some = account_facts().reservations["cr-0123456789abcdef0"]
    block = replace(some, starts_at=NOW - since_start, ends_at=NOW + before_end)
    assert is_idle(block, NOW) is idle


def test_an_ultraserver_is_idle_an_hour_before_its_end():
    some = account_facts().reservations["cr-0123456789abcdef0"]
    block = replace(some, instance_type="trn2u.48xlarge", ends_at=NOW + timedelta(hours=1))
    assert is_idle(block, NOW)
    assert not is_idle(block, NOW - timedelta(seconds=1))
