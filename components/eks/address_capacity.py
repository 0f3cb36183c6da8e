"""Checks that subnets have enough addresses for the planned nodes."""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.components.config.problems import Review
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.network.address_capacity import AddressNeed, needs_of, review_new_subnets
from trainyard.components.network.network_plan import NetworkPlan


def addresses_by_subnet(groups: Iterable[NodeGroupPlan]) -> dict[str, AddressNeed]:
    """Return the addresses needed in each subnet that is the only subnet of a node group.

    A node group with several subnets can use any of them and is not counted.
    """
    return needs_of(
        (group.subnets[0], addresses_needed(group), group.name)
        for group in groups
        if len(group.subnets) == 1
    )


def review_address_capacity(
    groups: Iterable[NodeGroupPlan], network: NetworkPlan, review: Review
) -> None:
    """Refuse new subnets that are too small for the nodes that launch there."""
    review_new_subnets(
        addresses_by_subnet(groups),
        network,
        review,
        takers="interfaces and pods",
        remedy="fewer nodes, or interface_layout: efa-only, which takes one address a node",
    )


def addresses_needed(group: NodeGroupPlan) -> int:
    """Return the IPv4 addresses that a node group takes from its subnets at its maximum size.

    A node takes one address for each planned interface with an address. VPC CNI also fills the
    primary interface with pod addresses as soon as the node joins. Interfaces that VPC CNI attaches
    later for more pods are not counted.
    https://docs.aws.amazon.com/eks/latest/best-practices/vpc-cni.html
    """
    interfaces = group.interfaces.addresses_per_node if group.interfaces else 1
    for_pods = group.instance_type.ipv4_addresses_per_interface - 1
    return group.schedule.maximum * (interfaces + for_pods)
