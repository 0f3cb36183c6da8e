"""Durations of a stack file against the length of its Capacity Blocks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.support.batch import P5
from tests.support.parallelcluster import RAW_P4DE
from tests.support.stack_files import NOW, notes, raw_config, refusals
from trainyard.components.capacity.block_times import review_block_times
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import Review

BLOCK = {
    "kind": "capacity-block",
    "reservation_id": "cr-0123456789abcdef0",
    "availability_zone": "us-west-2b",
    "starts_at": (NOW - timedelta(hours=2)).isoformat(),
    "ends_at": (NOW + timedelta(hours=46)).isoformat(),
}
"""48 hours."""
WARNINGS = "monitoring.alarms.block_warning_hours"


@pytest.mark.parametrize(
    ("hours", "wrong", "remedy"),
    [
        ([24, 2], [], ""),
        ([47], [], ""),
        ([48], [0], "set it to 47 or less"),
        ([200, 24, 2], [0], "24, 2 remain"),
        ([24, 72, 96], [1, 2], "24 remain"),
    ],
)
def test_a_warning_is_shorter_than_the_block(hours, wrong, remedy):
    """One that would be due before the start is never sent."""
    found = refusals(batch(monitoring={"alarms": {"block_warning_hours": hours}}))
    assert list(found) == [f"{WARNINGS}[{index}]" for index in wrong]
    assert all(remedy in each.remedy for each in found.values())


def block(**changes: Any) -> dict[str, Any]:
    return {key: value for key, value in (BLOCK | changes).items() if value is not None}


def batch(**changes: Any) -> dict[str, Any]:
    """Return a stack of AWS Batch whose nodes are in the block."""
    return raw_config(P5, reservations__block=block(), **changes)


def test_a_block_of_unknown_times_is_not_compared() -> None:
    alarms = {"alarms": {"block_warning_hours": [4000]}}
    unknown = block(starts_at=None, ends_at=None)
    assert not refusals(raw_config(P5, reservations__block=unknown, monitoring=alarms))
    assert refusals(batch(monitoring=alarms))


def test_idle_nodes_of_a_short_block_raise_no_alarm() -> None:
    short = block(ends_at=(NOW + timedelta(hours=22)).isoformat())
    raw = raw_config(P5, reservations__block=short, monitoring={"alarms": {"idle_minutes": 1440}})
    assert "monitoring.alarms.idle_minutes: 1440 minutes" in notes(raw)
    assert "alarms.idle_minutes: " not in notes(batch(monitoring={"alarms": {}}))


@pytest.mark.parametrize(("minutes", "told"), [(48 * 60, False), (72 * 60, True)])
def test_a_timeout_longer_than_the_block_is_told(minutes: int, *, told: bool) -> None:
    (name,) = list(batch()["architecture"]["job_definitions"])[:1]
    key = f"architecture__job_definitions__{name}__timeout_minutes"
    assert ("72 h is longer than the Capacity Block" in notes(batch(**{key: minutes}))) == told


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("3-00:00:00", True),
        ("4320", True),
        ("72:00:00", True),
        ("2-00", False),
        ("UNLIMITED", False),
    ],
)
def test_a_time_limit_of_a_partition_longer_than_the_block_is_told(
    value: str, *, told: bool
) -> None:
    """The forms of https://slurm.schedmd.com/slurm.conf.html, `MaxTime`."""
    raw = raw_config(RAW_P4DE, reservations={"block": block()})
    queue = raw["architecture"]["queues"]["compute-gpu"]
    queue["purchase_option"] = "block"
    queue["slurm_settings"] = {"MaxTime": value}
    for each in queue["compute_resources"].values():
        each.update(instance_type="p5.48xlarge", minimum=2, maximum=2)
    config = load_stack_config(raw, stack_file="Pulumi.pc-p4de.yaml")
    review = Review(stack_file="Pulumi.pc-p4de.yaml")
    review_block_times(config, review)
    assert bool(review.notes) == told
