"""A timeline has every moment in the life of a Capacity Block, in order."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.batch import P5
from tests.support.eks import (
    RESERVATION,
    block,
    changed,
    config,
    p5,
)
from tests.support.parallelcluster import raw_p4de
from tests.support.stack_files import raw_config
from trainyard.components.capacity.timeline import Timeline, block_timelines

START = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
END = START + timedelta(days=7)
TIMES = {"starts_at": START.isoformat(), "ends_at": END.isoformat()}


def timeline(**changes: object) -> Timeline:
    (found,) = block_timelines(config(block(**{**TIMES, **changes})))
    return found


def test_warnings_that_the_stack_asks_for_are_moments() -> None:
    alarms = {"monitoring": {"alarms": {"block_warning_hours": [2, 24]}}}
    (found,) = block_timelines(config(block(**TIMES) | alarms))
    warned = [each for each in found.moments if "warns of the end" in each.event]
    assert [END - each.at for each in warned] == [timedelta(hours=24), timedelta(hours=2)]
    assert [each.at for each in found.moments] == sorted(each.at for each in found.moments)


def test_nodes_of_eks_launch_at_the_start_and_are_drained_before_ec2_terminates_them() -> None:
    """D8, D9."""
    found = timeline()
    assert (found.reservation, found.reservation_id) == ("block", RESERVATION)
    assert found.pools == ("node group p5: 2 x p5.48xlarge",)
    assert [(END - moment.at, moment.event) for moment in found.moments] == [
        (timedelta(days=7), "the block starts: the nodes launch and join the cluster"),
        (timedelta(minutes=40), "EC2 sends its warning of the end"),
        (timedelta(minutes=40), "the nodes are drained and scaled in"),
        (timedelta(minutes=30), "EC2 begins to terminate the instances that are left"),
        (
            timedelta(0),
            "the block ends; for the next one, set its `reservation_id` and run `up` again",
        ),
    ]


def test_an_ultraserver_is_warned_of_drained_and_terminated_earlier() -> None:
    group = {"architecture__node_groups__p5__instance_type": "trn2u.48xlarge"}
    times = {f"reservations__block__{key}": value for key, value in TIMES.items()}
    (found,) = block_timelines(config(changed(**group, **times)))
    assert [END - moment.at for moment in found.moments[1:-1]] == [
        timedelta(minutes=70),
        timedelta(minutes=70),
        timedelta(minutes=60),
    ]
    assert found.leaves_at == END - timedelta(minutes=70)


def test_the_warning_is_forwarded_if_the_stack_has_alarms() -> None:
    raw = block(**TIMES)
    raw["monitoring"] = {"alarms": {}}
    (found,) = block_timelines(config(raw))
    assert any("`monitoring.alarms` forwards it" in moment.event for moment in found.moments)


def test_slurm_and_batch_nodes_stay_until_ec2_terminates_them() -> None:
    reservation = {"kind": "capacity-block", "reservation_id": RESERVATION, **TIMES}
    slurm = raw_p4de(reservations__p4de=reservation)
    batch = raw_config(P5, reservations__block=reservation)
    for raw, starts in ((slurm, "static nodes launch"), (batch, "the jobs in the queue")):
        (found,) = block_timelines(config(raw))
        assert starts in found.moments[0].event
        assert not any("drained" in moment.event for moment in found.moments)


def test_a_compute_environment_opens_at_the_start_and_closes_with_the_warning() -> None:
    reservation = {"kind": "capacity-block", "reservation_id": RESERVATION, **TIMES}
    (found,) = block_timelines(config(raw_config(P5, reservations__block=reservation)))
    opens, closes = (
        [each.at for each in found.moments if f"the compute environment {verb}" in each.event]
        for verb in ("opens", "closes")
    )
    assert (opens, closes) == ([START], [END - timedelta(minutes=40)])


@pytest.mark.parametrize(
    ("now", "state"),
    [
        (START - timedelta(seconds=1), "scheduled"),
        (START, "active"),
        (END - timedelta(seconds=1), "active"),
        (END, "ended"),
    ],
)
def test_a_block_is_active_from_its_start_to_its_end(now: datetime, state: str) -> None:
    assert timeline().state(now) == state


def test_a_block_without_times_has_no_moments() -> None:
    (found,) = block_timelines(config(block()))
    assert found.moments == ()
    assert found.state(START) == "unknown"


def test_a_block_that_no_node_uses_has_no_timeline() -> None:
    assert block_timelines(config(p5(purchase_option="on-demand"))) == ()


@given(st.timedeltas(min_value=timedelta(days=1), max_value=timedelta(days=182)))
def test_moments_are_in_the_order_of_time(length: timedelta) -> None:
    found = timeline(ends_at=(START + length).isoformat())
    times = [moment.at for moment in found.moments]
    assert times == sorted(times)
