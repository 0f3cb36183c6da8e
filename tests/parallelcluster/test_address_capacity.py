"""The number of addresses that a Slurm cluster needs, by subnet."""

from __future__ import annotations

import pytest

from tests.support.parallelcluster import FSX, compute_resource, head_node, p4de_plan, plan, queue
from tests.support.stack_files import PRIVATE_A, PRIVATE_B, PUBLIC_A
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.config.storage import NewFsxOpenZfs
from trainyard.components.parallelcluster.address_capacity import (
    addresses_by_subnet,
    addresses_of_node,
    lustre_addresses,
)
from trainyard.components.storage.storage_plan import plan_open_zfs

P5 = instance_type("p5.48xlarge")


def test_a_node_with_efa_takes_one_address() -> None:
    """PC-09: every interface but the first is `efa-only`."""
    assert addresses_of_node(compute_resource(instance_type=P5, efa_enabled=True)) == 1


def test_a_node_without_efa_takes_one_for_each_network_card() -> None:
    assert addresses_of_node(compute_resource(instance_type=P5)) == 32
    assert addresses_of_node(compute_resource()) == 1


def test_head_node_queues_and_storage_are_counted_where_they_lie() -> None:
    needs = addresses_by_subnet(p4de_plan())
    assert needs[PUBLIC_A].addresses == 1
    assert needs[PRIVATE_B].users == ("compute-gpu/distributed-ml", "storage fsx")
    assert needs[PRIVATE_B].addresses == 4 + lustre_addresses(FSX)


def test_the_most_nodes_are_counted_not_those_that_run_always() -> None:
    busy = queue("busy", compute_resource(minimum=0, maximum=40), subnets=(PRIVATE_A,))
    assert addresses_by_subnet(plan(queues=(busy,)))[PRIVATE_A].addresses == 40


def test_a_queue_over_several_subnets_takes_what_it_finds() -> None:
    assert set(addresses_by_subnet(plan())) == {PUBLIC_A}


def test_lustre_takes_one_address_for_each_server_and_one_for_metadata() -> None:
    """4800 GiB are two servers of 2400 GiB."""
    assert lustre_addresses(FSX) == 3


def test_a_head_node_of_an_unknown_type_takes_one_address() -> None:
    needs = addresses_by_subnet(plan(head_node=head_node(instance_type="x9.huge")))
    assert needs[PUBLIC_A].addresses == 1


@pytest.mark.parametrize(("deployment", "servers"), [("SINGLE_AZ_2", 1), ("SINGLE_AZ_HA_2", 2)])
def test_open_zfs_takes_one_address_for_each_server(deployment, servers) -> None:
    wanted = NewFsxOpenZfs(kind="fsx-openzfs", deployment_type=deployment)
    system = plan_open_zfs("software", wanted, subnets=(PRIVATE_B,), clients=(), tags={})
    needs = addresses_by_subnet(plan(open_zfs=(system,)))
    assert (needs[PRIVATE_B].addresses, needs[PRIVATE_B].users) == (servers, ("storage software",))
