"""Where the nodes of a pool launch."""

from __future__ import annotations

import pytest

from tests.support.network_stack import new_network
from tests.support.pools import NETWORK
from tests.support.stack_files import PRIVATE_A, PRIVATE_B, RESERVATION
from trainyard.components.config.reservations import Odcr, OdcrGroup, Reservation
from trainyard.components.network.network_plan import NetworkPlan, plan_network
from trainyard.components.network.pool_place import PoolPlace

NEW = plan_network(new_network("us-west-2a", "us-west-2b"), region="us-west-2")
ONE_ZONE = plan_network(new_network(), region="us-west-2")
ODCR = Odcr(kind="odcr", reservation_id=RESERVATION)
IN_A_ZONE = Odcr(kind="odcr", reservation_id=RESERVATION, availability_zone="us-west-2b")
GROUP = OdcrGroup(kind="odcr-group", members=(RESERVATION,))


def place(
    reservation: Reservation | None = None,
    network: NetworkPlan = NETWORK,
    *,
    availability_zone: str | None = None,
    subnet_id: str | None = None,
) -> PoolPlace:
    return PoolPlace(
        name="compute environment g4dn",
        key="architecture.compute_environments.g4dn",
        launch_key="architecture.compute_environments.g4dn",
        availability_zone=availability_zone,
        subnet_ids=(subnet_id,) if subnet_id else (),
        subnet_key="architecture.compute_environments.g4dn.subnet_id",
        reservations={"mine": reservation} if reservation else {},
        network=network,
    )


@pytest.mark.parametrize(
    ("found", "one_zone"),
    [
        pytest.param(place(), False, id="anywhere"),
        pytest.param(place(GROUP), False, id="a-group-may-span-zones"),
        pytest.param(place(ODCR), True, id="a-reservation-lies-in-one"),
        pytest.param(place(subnet_id=PRIVATE_B), True, id="subnet"),
        pytest.param(place(availability_zone="us-west-2b"), True, id="zone"),
        pytest.param(place(network=ONE_ZONE), True, id="only-one-subnet"),
    ],
)
def test_whether_all_nodes_launch_in_one_zone(found: PoolPlace, one_zone: bool):
    assert found.one_zone is one_zone


@pytest.mark.parametrize(
    ("found", "subnets"),
    [
        pytest.param(place(), (PRIVATE_A, PRIVATE_B), id="all"),
        pytest.param(place(subnet_id=PRIVATE_B), (PRIVATE_B,), id="named"),
        pytest.param(place(IN_A_ZONE), (PRIVATE_A, PRIVATE_B), id="zones-are-unknown"),
        pytest.param(place(IN_A_ZONE, NEW), ("private-us-west-2b",), id="reservation"),
        pytest.param(
            place(network=NEW, availability_zone="us-west-2a"), ("private-us-west-2a",), id="zone"
        ),
        pytest.param(place(network=NEW), ("private-us-west-2a", "private-us-west-2b"), id="new"),
    ],
)
def test_which_subnets_they_launch_in(found: PoolPlace, subnets: tuple[str, ...]):
    assert found.subnets == subnets


def test_the_pool_says_its_zone_before_the_reservation_does():
    assert place(IN_A_ZONE, availability_zone="usw2-az2").zone == "usw2-az2"
    assert place(IN_A_ZONE).zone == "us-west-2b"
    assert place().zone is None
