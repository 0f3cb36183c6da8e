"""Addresses that the nodes of a Batch stack, and the containers of their jobs, need."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.batch import compute_environment, p5_plan, plan
from tests.support.network_stack import new_network
from tests.support.stack_files import PRIVATE_B, REGION
from trainyard.components.batch.address_capacity import addresses_by_subnet, review_address_capacity
from trainyard.components.compute.interface_plan import plan_interfaces
from trainyard.components.config.problems import Review
from trainyard.components.network.address_capacity import AddressNeed
from trainyard.components.network.network_plan import plan_network


def test_a_node_of_a_multi_node_job_takes_one_address_and_its_container_another():
    """Rule G3: ECS gives the container its own interface in the subnet of the node."""
    assert addresses_by_subnet(p5_plan()) == {PRIVATE_B: AddressNeed(2 * 2, ("p5",))}


def test_jobs_on_one_node_take_the_address_of_their_node():
    single = tuple(replace(each, nodes=1) for each in p5_plan().job_definitions)
    assert addresses_by_subnet(p5_plan(job_definitions=single))[PRIVATE_B].addresses == 2


def test_the_old_layout_takes_an_address_for_each_card():
    (nodes,) = p5_plan().compute_environments
    legacy = replace(nodes, interfaces=plan_interfaces(nodes.instance_type, "efa"))
    need = addresses_by_subnet(p5_plan(compute_environments=(legacy,)))[PRIVATE_B]
    assert need.addresses == 2 * (32 + 1)


def test_an_environment_over_several_subnets_takes_what_it_finds():
    assert addresses_by_subnet(plan()) == {}


def test_a_node_without_efa_takes_one_address():
    alone = compute_environment(subnets=(PRIVATE_B,))
    made = plan(compute_environments=(alone,))
    assert addresses_by_subnet(made) == {PRIVATE_B: AddressNeed(4, ("g4dn",))}


@pytest.mark.parametrize(("block", "refused"), [("10.1.0.0/28", 1), ("10.1.0.0/24", 0)])
def test_a_new_subnet_without_room_is_refused(block, refused):
    """16 addresses, of which AWS reserves five, and six nodes that need two each."""
    network = plan_network(
        new_network(private_subnet_cidrs=(block,), secondary_cidrs=("10.1.0.0/16",)),
        region=REGION,
    )
    (nodes,) = p5_plan().compute_environments
    here = replace(nodes, subnets=network.private_names, maximum_vcpus=6 * 192)
    review = Review(stack_file="Pulumi.batch-p5.yaml")
    review_address_capacity(p5_plan(network=network, compute_environments=(here,)), review)
    assert len(review.problems) == refused
    assert all("p5 need 12" in problem.problem for problem in review.problems)
