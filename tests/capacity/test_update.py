"""Replacement of nodes: it needs no more capacity than is available."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.components.capacity.plan import ONE_BY_ONE
from trainyard.components.capacity.update import SURGE_PER_ZONE, plan_update
from trainyard.components.config.reservations import CapacityBlock, Odcr, OdcrGroup

ID = "cr-0123456789abcdef0"


def odcr(count):
    return Odcr(kind="odcr", reservation_id=ID, instance_count=count)


def strategy(reservation, nodes=2, *, zones=1, training=False):
    plan = plan_update(reservation, nodes_at_most=nodes, zones=zones, training=training)
    return plan.strategy


@pytest.mark.parametrize(
    ("reservation", "expected"),
    [
        pytest.param(None, "DEFAULT", id="no-reservation"),
        pytest.param(odcr(8), "DEFAULT", id="odcr-with-room"),
        pytest.param(odcr(2), "MINIMAL", id="odcr-full"),
        pytest.param(odcr(3), "MINIMAL", id="odcr-with-less-room-than-an-update-takes"),
        pytest.param(odcr(None), "MINIMAL", id="odcr-of-unknown-size"),
        pytest.param(
            OdcrGroup(kind="odcr-group", members=(ID,), instance_count=2), "MINIMAL", id="group"
        ),
        pytest.param(
            CapacityBlock(kind="capacity-block", reservation_id=ID, instance_count=64),
            "MINIMAL",
            id="capacity-block",
        ),
    ],
)
def test_a_reservation_without_room_is_not_surged(reservation, expected):
    """G11."""
    assert strategy(reservation) == expected


def test_each_zone_of_the_group_takes_its_surge():
    assert strategy(odcr(6), 2, zones=2) == "DEFAULT"
    assert strategy(odcr(6), 2, zones=3) == "MINIMAL"


def test_nodes_of_a_training_job_are_replaced_together():
    plan = plan_update(odcr(2), nodes_at_most=2, zones=1, training=True)
    assert (plan.maximum_unavailable, plan.maximum_unavailable_percentage) == (None, 100)


def test_other_nodes_are_replaced_one_by_one():
    plan = plan_update(odcr(2), nodes_at_most=2, zones=1, training=False)
    assert (plan.maximum_unavailable, plan.maximum_unavailable_percentage) == (1, None)
    assert plan_update(None, nodes_at_most=2, zones=3, training=True) == ONE_BY_ONE


@given(
    count=st.integers(1, 64),
    nodes=st.integers(1, 64),
    zones=st.integers(1, 4),
    training=st.booleans(),
)
def test_a_surge_never_needs_more_than_the_reservation(count, nodes, zones, training):
    plan = plan_update(odcr(count), nodes_at_most=nodes, zones=zones, training=training)
    limits = (plan.maximum_unavailable, plan.maximum_unavailable_percentage)
    assert sum(limit is not None for limit in limits) == 1
    if plan.strategy == "DEFAULT":
        assert nodes + max(SURGE_PER_ZONE * zones, plan.maximum_unavailable) <= count
