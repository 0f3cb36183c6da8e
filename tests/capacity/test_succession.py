"""When the nodes of a Capacity Block that is over have another one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.eks import OTHER_RESERVATION, RESERVATION, changed, config, refusals
from trainyard.components.capacity.timeline import ended_at, is_succeeded
from trainyard.components.config.reservations import CapacityBlock

END = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
WEEK = timedelta(days=7)


def reservation(reservation_id: str, ends_at: datetime) -> dict[str, Any]:
    return {
        "kind": "capacity-block",
        "reservation_id": reservation_id,
        "availability_zone": "us-west-2b",
        "instance_count": 2,
        "starts_at": (ends_at - WEEK).isoformat(),
        "ends_at": ends_at.isoformat(),
    }


def two_blocks(**p5: Any) -> dict[str, Any]:
    """Return a stack file whose node group p5 has the first of two blocks."""
    raw = changed(
        reservations={
            "block": reservation(RESERVATION, END),
            "next": reservation(OTHER_RESERVATION, END + WEEK),
        }
    )
    raw["architecture"]["node_groups"]["p5"] |= p5
    return raw


def test_the_next_block_of_the_same_nodes_succeeds_one_that_is_over() -> None:
    found = config(two_blocks(further_blocks=["next"]))
    assert is_succeeded(found, "block", END)
    assert not is_succeeded(found, "block", END - timedelta(seconds=1))
    assert not is_succeeded(found, "block", END + WEEK)


def test_the_block_of_other_nodes_succeeds_nothing() -> None:
    """The nodes of p5 would never launch, although another node group runs."""
    raw = two_blocks()
    groups = raw["architecture"]["node_groups"]
    groups["other"] = {**groups["p5"], "purchase_option": "next"}
    assert refusals(raw, now=END) == {}
    assert not is_succeeded(config(raw), "block", END)


@pytest.mark.parametrize(("seconds", "over"), [(-1, False), (0, True)])
def test_a_reservation_is_over_from_its_end_on(seconds: int, over: bool) -> None:
    """`endDate` is when a reservation expires, and EC2 launches nothing into it.

    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html
    """
    block = CapacityBlock(kind="capacity-block", reservation_id=RESERVATION, ends_at=END)
    assert (ended_at(block, END + timedelta(seconds=seconds)) == END) is over
