"""Scheduled actions: only for known times."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone

from tests.support.eks import SCHEDULED
from trainyard.components.eks.node_groups import NodeGroupSchedule, NodeGroupScheduleArgs

SCHEDULE = "aws:autoscaling/schedule:Schedule"


def schedule(deploy, **changes):
    args = NodeGroupScheduleArgs(group_name="nodes", schedule=replace(SCHEDULED, **changes))
    return deploy(lambda: NodeGroupSchedule("p5-schedule", args))


def test_times_are_utc_to_the_second(deploy):
    tokyo = timezone(timedelta(hours=9))
    starts = datetime(2026, 12, 1, 20, 30, 15, 250, tzinfo=tokyo)
    action = schedule(deploy, scale_up_at=starts).one("p5-schedule-up")
    assert action.inputs["startTime"] == "2026-12-01T11:30:15Z"


def test_a_block_without_a_known_end_is_only_filled(deploy):
    cloud = schedule(deploy, scale_down_at=None)
    assert [action.name for action in cloud.of_type(SCHEDULE)] == ["p5-schedule-up"]


def test_a_block_that_began_is_only_emptied(deploy):
    cloud = schedule(deploy, scale_up_at=None)
    assert [action.name for action in cloud.of_type(SCHEDULE)] == ["p5-schedule-down"]


def test_the_component_is_closed(deploy):
    cloud = schedule(deploy)
    assert cloud.one("p5-schedule-up").parent in cloud.closed
