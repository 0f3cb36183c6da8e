"""Every alarm goes off once for a series that violates its threshold, and not for a normal one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pytest

from tests.monitoring.conftest import MONITORED, monitoring_of
from tests.support.eks import with_created_odcr
from tests.support.monitoring import (
    Point,
    State,
    state,
    times_fired,
)
from tests.support.stack_files import plan_from
from trainyard.components.monitoring.plan import AlarmPlan, Subject

MISSING = None
GIB = 2**30
# An hour has 12 periods of 5 minutes.
HOUR = 12


class Series(NamedTuple):
    """Values of a metric in consecutive periods."""

    violating: Sequence[Point]
    normal: Sequence[Point]


SERIES: Mapping[str, Series] = {
    # Two instances of a block of two are unused for more than an hour; a node starts in time.
    "reservation-unused-*": Series([0, *[2] * 15, 0], [0, *[2] * (HOUR - 1), 0]),
    # Nodes that do not start within a quarter of an hour.
    "nodes-missing-*": Series([0, 1, 1, 1, 1, 0, 0], [0, 1, 1, 0, 0]),
    "nodes-failed": Series([0, 0, 1, 1, 1, 0], [0, 1, 0, 0, 1, 0]),
    # No GPU works for more than an hour; one works once in an hour; there are no nodes.
    "gpus-idle": Series([99, *[0] * 15, 98], [*[0] * (HOUR - 1), 97, *[MISSING] * 20]),
    "neuron-cores-idle": Series([99, *[0] * 15, 98], [*[0.2] * (HOUR - 1), 40, *[0] * 10]),
    "gpu-xid": Series([MISSING, MISSING, 2, MISSING, MISSING, MISSING], [MISSING] * 6),
    "efa-unresponsive": Series([0, 0, 4, 0, 0], [0, 0, 0]),
    "efa-impaired": Series([0, 3, 2, 5, 1, 0, 0], [0, 3, 2, 0, 5, 4, 0]),
    # 2400 GiB, of which 360 are 15 %.
    "file-system-full-data": Series(
        [free * GIB for free in (400, 350, 350, 340, 340, 330, 330, 900)],
        [free * GIB for free in (400, 350, 350, 350, 350, 400, 361, 361)],
    ),
    "nodes-unhealthy": Series([0, 0, 1, 0], [0, 0, MISSING, 0]),
    "nodes-lost": Series([MISSING, 1, MISSING, MISSING, MISSING], [MISSING, 0]),
    "nodes-silent": Series([0, 2, 0], [0, 0]),
    "nodes-missing": Series([0, 1, 0], [MISSING] * 3),
    "head-node-silent": Series([1, 1, *[MISSING] * 14, 1, 1], [1, 1, *[MISSING] * 7, 1, 1]),
}
"""Series by the name of the alarm; `*` is the name of a reservation or a node group."""


def alarms_of(stack: str) -> Sequence[AlarmPlan]:
    plan = monitoring_of(stack).alarms
    assert plan is not None
    return plan.alarms


def series_of(alarm: AlarmPlan) -> Series:
    found = SERIES.get(alarm.name)
    return found or SERIES[f"{alarm.name.rpartition('-')[0]}-*"]


def fired(alarm: AlarmPlan, points: Sequence[Point]) -> int:
    return times_fired(
        points,
        comparison=alarm.comparison,
        threshold=alarm.threshold,
        periods=alarm.periods,
        missing=alarm.missing,
    )


@pytest.mark.parametrize("stack", MONITORED)
def test_an_alarm_goes_off_once_for_a_series_that_violates_its_threshold(stack: str) -> None:
    times = {
        alarm.name: tuple(fired(alarm, points) for points in series_of(alarm))
        for alarm in alarms_of(stack)
    }
    assert times == dict.fromkeys(times, (1, 0))
    assert len(times) == len(alarms_of(stack)) > 0


def test_every_series_belongs_to_an_alarm() -> None:
    named = {alarm.name for stack in MONITORED for alarm in alarms_of(stack)}
    assert {name for name in SERIES if "*" not in name} <= named
    assert any(name.startswith("nodes-missing-") for name in named)


def test_instances_that_the_stack_leaves_on_purpose_do_not_count_as_unused() -> None:
    from tests.support.stacks import prepared

    changes = {
        "monitoring": {"alarms": {"idle_minutes": 10}},
        "architecture": {"node_groups": {"p5": {"desired": 1, "maximum": 1}}},
    }
    plan = prepared("p5-cb", changes=changes).plan.monitoring_plan
    assert plan is not None
    assert plan.alarms is not None
    (unused,) = (each for each in plan.alarms.alarms if each.name == "reservation-unused-block")
    assert fired(unused, [1] * 10) == 0
    assert fired(unused, [1, 2, 2, 2, 1]) == 1


def test_a_reservation_that_the_stack_creates_is_watched_by_the_id_that_it_gets() -> None:
    raw = with_created_odcr() | {"monitoring": {"alarms": {}}}
    found = plan_from(raw).monitoring_plan
    assert found is not None
    assert found.alarms is not None
    (unused,) = (each for each in found.alarms.alarms if each.name == "reservation-unused-block")
    subject = Subject(kind="reservation", name="block")
    assert unused.metric.dimensions == {"CapacityReservationId": subject}
    assert unused.description.startswith("Instances of reservation block have")


DOCUMENTED = (
    ("0 - X - X", 3, "OK", "OK"),
    ("0 - - - -", 3, "OK", "OK"),
    ("- - - - -", 3, "ALARM", "OK"),
    ("0 X X - X", 3, "ALARM", "ALARM"),
    ("- - X - -", 3, "ALARM", "OK"),
    ("0 - X - X", 2, "ALARM", "ALARM"),
    ("0 0 X 0 X", 2, "ALARM", "ALARM"),
    ("0 - X - -", 2, "ALARM", "OK"),
    ("- - - - 0", 2, "ALARM", "OK"),
)
"""Points (0 is within the threshold, X beyond it), points to alarm of 3, and the documented states
with missing data as `breaching` and `notBreaching`."""


@pytest.mark.parametrize(("points", "to_alarm", "breaching", "not_breaching"), DOCUMENTED)
def test_the_evaluator_gives_the_states_of_the_documentation(
    points: str, to_alarm: int, breaching: State, not_breaching: State
) -> None:
    values = [{"0": 0.0, "X": 1.0}.get(point) for point in points.split()]

    def after(missing: str) -> State:
        return state(
            values,
            comparison="GreaterThanThreshold",
            threshold=0,
            periods=3,
            to_alarm=to_alarm,
            missing=missing,  # pyright: ignore[reportArgumentType]
        )

    assert (after("breaching"), after("notBreaching")) == (breaching, not_breaching)
