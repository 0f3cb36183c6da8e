from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.components.capacity.schedule import (
    leave_of_any_type,
    minutes_before_end,
    most_at_once,
    nodes_leave_before_end,
    plan_schedule,
)
from trainyard.components.catalog.capacity_blocks import terminated_before_end
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.config.node_pool import NodeSizes
from trainyard.components.config.reservations import CapacityBlock, Odcr

START = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
END = START + timedelta(days=7)
DOWN = END - timedelta(minutes=40)
SIZES = NodeSizes(minimum=1, desired=2, maximum=4)
ID = "cr-0123456789abcdef0"


def a_block(starts_at: datetime | None = START, ends_at: datetime | None = END) -> CapacityBlock:
    return CapacityBlock(
        kind="capacity-block", reservation_id=ID, starts_at=starts_at, ends_at=ends_at
    )


def at(moment: datetime, reservation=None, **options):
    given = {"instance_type": "p5.48xlarge", **options}
    return plan_schedule(SIZES, reservation or a_block(), moment, **given)


def test_before_the_start_nothing_is_wanted_and_nobody_waits():
    """D8."""
    plan = at(START - timedelta(seconds=1))
    assert (plan.state, plan.minimum, plan.desired, plan.maximum) == ("scheduled", 0, 0, 4)
    assert plan.wait_for_capacity is False
    assert "2026-12-01 11:30 UTC" in plan.message


def test_before_the_start_both_ends_are_scheduled():
    """D9, EKN-16."""
    plan = at(START - timedelta(days=1))
    assert (plan.scale_up_at, plan.scale_up_minimum, plan.scale_up_desired) == (START, 1, 2)
    assert plan.scale_down_at == DOWN


def test_the_size_that_an_action_sets_is_not_set_back_by_an_update():
    """A group whose size changes by a schedule at one end of the block only is one too."""
    managed = at(START - timedelta(days=1), managed=True)
    assert (managed.scale_up_at, managed.scale_down_at) == (START, None)
    assert managed.moved_by_schedule
    assert at(START).moved_by_schedule
    assert not at(START, managed=True).moved_by_schedule


def test_nodes_leave_ten_minutes_before_ec2_begins_to_terminate_them():
    """EKS scales in 40 minutes before the end, and EC2 terminates 30 minutes before it.

    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
    """
    assert minutes_before_end("p5.48xlarge") == ("40 minutes", "30 minutes")
    assert leave_of_any_type() == "40 minutes before its end, or 70 minutes for UltraServers"


@pytest.mark.parametrize("moment", [START, DOWN - timedelta(seconds=1)], ids=["first", "last"])
def test_while_active_the_sizes_are_the_stack_files(moment):
    plan = at(moment)
    assert (plan.state, plan.minimum, plan.desired, plan.maximum) == ("active", 1, 2, 4)
    assert (plan.scale_up_at, plan.scale_down_at) == (None, DOWN)
    assert plan.wait_for_capacity


@pytest.mark.parametrize("moment", [DOWN, END - timedelta(seconds=1)], ids=["first", "last"])
def test_in_the_last_forty_minutes_nothing_is_wanted(moment):
    """D9."""
    plan = at(moment)
    assert (plan.state, plan.minimum, plan.desired) == ("ending", 0, 0)
    assert not plan.moved_by_schedule
    assert plan.wait_for_capacity is False


def test_after_the_end_the_block_has_expired():
    assert at(END).state == "expired"


def test_a_managed_group_is_filled_by_a_schedule_and_emptied_by_eks():
    """Its minimum remains the one that EKS has, so that only the desired size changes."""
    before = at(START - timedelta(hours=1), managed=True)
    assert (before.minimum, before.desired, before.maximum) == (0, 0, 4)
    assert (before.scale_up_at, before.scale_up_minimum, before.scale_up_desired) == (START, 0, 2)
    assert before.scale_down_at is None
    assert before.wait_for_capacity is False
    assert "launch automatically" in before.message


def test_a_managed_group_in_an_active_block_has_no_schedule_of_ours():
    active = at(START, managed=True)
    assert (active.minimum, active.desired) == (1, 2)
    assert not active.moved_by_schedule


@pytest.mark.parametrize("managed", [False, True], ids=["self-managed", "managed"])
def test_at_the_end_no_group_of_either_kind_is_scheduled(managed):
    for moment, state in ((DOWN, "ending"), (END, "expired")):
        plan = at(moment, managed=managed)
        assert (plan.state, plan.desired, plan.moved_by_schedule) == (state, 0, False)


@pytest.mark.parametrize("managed", [False, True], ids=["self-managed", "managed"])
def test_ultraservers_leave_before_ec2_terminates_them_an_hour_before_the_end(managed):
    """EKS would scale a managed group in 20 minutes after EC2 has begun to terminate it."""
    down = END - timedelta(minutes=70)
    for moment in (START - timedelta(days=1), START, down - timedelta(seconds=1)):
        plan = at(moment, instance_type="trn2u.48xlarge", managed=managed)
        assert plan.scale_down_at == down
    plan = at(down, instance_type="trn2u.48xlarge", managed=managed)
    assert (plan.state, plan.desired, plan.moved_by_schedule) == ("ending", 0, False)


def test_every_type_has_ten_minutes_to_drain_before_ec2_terminates_it():
    for name in INSTANCE_TYPES:
        assert nodes_leave_before_end(name) - terminated_before_end(name) == timedelta(minutes=10)


@pytest.mark.parametrize(
    "reservation",
    [
        pytest.param(None, id="no-reservation"),
        pytest.param(Odcr(kind="odcr", reservation_id=ID), id="odcr"),
        pytest.param(a_block(None, None), id="block-with-unknown-times"),
        pytest.param(a_block(START, None), id="block-with-unknown-end"),
    ],
)
def test_without_a_known_end_nothing_is_scheduled(reservation):
    plan = plan_schedule(SIZES, reservation, START, instance_type="p5.48xlarge")
    assert (plan.state, plan.desired, plan.moved_by_schedule) == ("unlimited", 2, False)


def test_times_are_utc_whatever_the_file_says():
    summer = datetime.fromisoformat("2026-12-01T13:30:00+02:00")
    plan = at(START - timedelta(days=1), a_block(summer, END))
    assert plan.scale_up_at == START
    assert plan.scale_up_at.utcoffset() == timedelta(0)


@given(st.integers(min_value=-20_000, max_value=20_000))
def test_at_no_moment_more_than_the_stack_file_asks_for_is_wanted(minutes):
    plan = at(START + timedelta(minutes=minutes))
    assert 0 <= plan.minimum <= plan.desired <= plan.maximum == SIZES.maximum
    assert plan.desired in {0, SIZES.desired}
    assert (plan.desired > 0) == (plan.state == "active")


@given(st.integers(min_value=-20_000, max_value=20_000))
def test_every_scheduled_action_is_still_to_come(minutes):
    now = START + timedelta(minutes=minutes)
    plan = at(now)
    assert all(t > now for t in (plan.scale_up_at, plan.scale_down_at) if t is not None)


@pytest.mark.parametrize(
    ("starts_at", "at_once"),
    [
        pytest.param(END - timedelta(hours=1), 5, id="overlapping"),
        pytest.param(END, 3, id="in-a-row"),
    ],
)
def test_nodes_of_two_blocks_exist_together_only_while_both_blocks_do(starts_at, at_once):
    first, second = at(START, a_block()), at(START, a_block(starts_at, starts_at + (END - START)))
    assert most_at_once([(first, 2), (second, 3)]) == at_once
