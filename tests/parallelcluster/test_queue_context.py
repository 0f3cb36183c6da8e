"""Where the nodes of a queue launch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.parallelcluster import raw_g4dn
from tests.support.pools import NETWORK
from tests.support.stack_files import NOW, PRIVATE_A, PRIVATE_B, RESERVATION, STACK_FILE
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.parallelcluster import ParallelClusterStackConfig
from trainyard.components.network.pool_place import PlanContext
from trainyard.components.parallelcluster.queue_plan import Context, needs_one_subnet

QUEUE = "architecture.queues.compute"
GROUP = {"kind": "odcr-group", "members": [RESERVATION]}
ODCR = {"kind": "odcr", "reservation_id": RESERVATION}


def context(reservation: dict[str, Any] | None = None, **queue: Any) -> Context:
    changes = {f"architecture__queues__compute__{key}": value for key, value in queue.items()}
    raw = raw_g4dn(reservations={"mine": reservation} if reservation else {}, **changes)
    if reservation:
        raw["architecture"]["queues"]["compute"]["purchase_option"] = "mine"
    config = load_stack_config(raw, stack_file=STACK_FILE)
    assert isinstance(config, ParallelClusterStackConfig)
    return PlanContext(config=config, network=NETWORK, region="us-west-2", now=NOW)


@pytest.mark.parametrize(
    ("reservation", "queue", "together", "subnets"),
    [
        (None, {}, False, (PRIVATE_A, PRIVATE_B)),
        (None, {"subnet_ids": [PRIVATE_B]}, True, (PRIVATE_B,)),
        (None, {"subnet_ids": [PRIVATE_B, PRIVATE_A]}, False, (PRIVATE_B, PRIVATE_A)),
        (None, {"availability_zone": "us-west-2a"}, True, (PRIVATE_A, PRIVATE_B)),
        (ODCR, {}, True, (PRIVATE_A, PRIVATE_B)),
        (GROUP, {}, False, (PRIVATE_A, PRIVATE_B)),
        ({**GROUP, "availability_zone": "us-west-2a"}, {}, True, (PRIVATE_A, PRIVATE_B)),
    ],
    ids=["open", "subnet", "subnets", "zone", "reservation", "group", "group in a zone"],
)
def test_a_queue_launches_in_one_zone_where_something_says_so(
    reservation: dict[str, Any] | None,
    queue: dict[str, Any],
    *,
    together: bool,
    subnets: tuple[str, ...],
):
    """All subnets of an existing VPC are kept, because only the account knows their zones."""
    place = context(reservation, **queue).place(QUEUE)
    assert place.one_zone == together
    assert place.subnets == subnets


@pytest.mark.parametrize(
    ("reservation", "efa", "needed"),
    [(None, False, False), (None, True, True), (ODCR, False, True), (GROUP, False, False)],
)
def test_efa_and_reservations_by_id_need_one_subnet(
    reservation: dict[str, Any] | None, *, efa: bool, needed: bool
):
    found = context(reservation, compute_resources__g4dn__efa_enabled=efa)
    assert (
        needs_one_subnet(found.config.architecture.queues["compute"], found.place(QUEUE)) == needed
    )


def test_the_zone_of_the_queue_comes_before_that_of_its_reservation():
    found = context({**ODCR, "availability_zone": "us-west-2b"}, availability_zone="usw2-az1")
    place = found.place(QUEUE)
    assert place.zone == "usw2-az1"
    assert list(place.reservations) == ["mine"]
