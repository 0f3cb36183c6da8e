"""How many instances a Capacity Block has before its start, when EC2 shows a total of 0."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.support.eks import STACK_FILE
from tests.support.eks_account import BLOCK, ENDS, NOW
from tests.support.reservation_answers import described
from trainyard.capacity.reservation_list import ListedReservation
from trainyard.components.architectures.prepare import complete, examine
from trainyard.components.capacity import lookup as capacity_lookup
from trainyard.components.capacity.reservations import held_count
from trainyard.components.catalog.capacity_blocks import BOUGHT_TAG, TYPE_TAG

STATED = {"reservations__block__instance_count": 2}


def answer(total: int, bought: str | None = None, **changes: Any) -> dict[str, Any]:
    """Return a block as EC2 shows it.

    aws/aws-parallelcluster, cli/src/pcluster/aws/aws_resources.py at 451cc5320d5d
    """
    tags = {BOUGHT_TAG: bought, TYPE_TAG: "capacity-block"} if bought is not None else {}
    given: dict[str, Any] = {
        "CapacityReservationId": BLOCK,
        "ReservationType": "capacity-block",
        "State": "scheduled",
        "TotalInstanceCount": total,
        "AvailableInstanceCount": 0,
        "CapacityAllocations": [],
        "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
    }
    return described(**given | changes)


@pytest.mark.parametrize(
    ("total", "bought", "changes", "count"),
    [
        pytest.param(0, "4", {}, 4, id="scheduled"),
        pytest.param(0, "4", {"State": "payment-pending"}, 4, id="payment-pending"),
        pytest.param(4, "4", {"State": "active"}, 4, id="active"),
        pytest.param(4, None, {"State": "active"}, 4, id="active-without-the-tag"),
        pytest.param(4, None, {}, 4, id="with-a-total-before-its-start"),
        pytest.param(0, None, {}, None, id="without-the-tag"),
        pytest.param(0, "four", {}, None, id="with-another-value"),
        pytest.param(0, None, {"State": "expired"}, 0, id="over"),
        pytest.param(2, "4", {"ReservationType": "default"}, 2, id="odcr-after-a-reduction"),
    ],
)
def test_the_larger_of_total_and_tag_counts(total, bought, changes, count):
    assert capacity_lookup.reservation_facts(answer(total, bought, **changes)).known_count == count


def test_the_count_of_several_reservations_is_unknown_if_that_of_one_is():
    known, unknown = (
        capacity_lookup.reservation_facts(answer(0, bought)) for bought in ("4", None)
    )
    assert held_count([known, known]) == 8
    assert held_count([known, unknown]) is None


@pytest.mark.parametrize("bought", ["2", None])
def test_a_stack_whose_block_has_not_started_is_planned_with_its_nodes(configure, facts, bought):
    block = capacity_lookup.reservation_facts(
        answer(0, bought, StartDate=NOW + timedelta(days=1), EndDate=ENDS)
    )
    account = replace(facts, reservations={BLOCK: block})
    found = examine(
        configure(**STATED), account, stack_file=STACK_FILE, region="us-west-2", now=NOW
    )
    assert (found.problems, found.plan is None) == ((), False)
    assert complete(configure(**STATED), account).reservations["block"].instance_count == 2


def test_the_list_shows_an_unknown_number_as_such():
    listed = ListedReservation(
        region="us-west-2",
        facts=capacity_lookup.reservation_facts(answer(0)),
        is_own=False,
        stacks=(),
        used=0,
        holders={},
        hours_left=None,
        fee_usd=None,
        left_usd=None,
    )
    assert (listed.use, listed.as_json()["instances"]) == ("not shown before its start", None)
