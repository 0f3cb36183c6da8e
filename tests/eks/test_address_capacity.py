"""Addresses that a node group needs in its subnets."""

from tests.support.eks import group, p5
from trainyard.components.eks.address_capacity import addresses_needed


def test_a_node_takes_its_interfaces_and_one_of_pods():
    """2 nodes, each with 1 primary address and 49 of the filled interface."""
    assert addresses_needed(group(p5())) == 2 * (1 + 49)


def test_the_efa_layout_takes_an_address_for_each_interface():
    assert addresses_needed(group(p5(interface_layout="efa"))) == 2 * (32 + 49)


def test_addresses_count_the_nodes_that_a_group_may_grow_to():
    assert addresses_needed(group(p5(maximum=8))) == 8 * 50


def test_a_group_without_efa_takes_one_interface_a_node():
    assert addresses_needed(group(p5(), "system")) == 2 * 15
