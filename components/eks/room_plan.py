"""Whether the nodes of a plan find addresses in the subnets that they launch in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from components.config.problems import ROOT
from components.config.review import Review
from components.eks.plan import NodeGroupPlan
from components.eks.pod_plan import addresses_needed
from components.network.network_plan import NetworkPlan


@dataclass(frozen=True, slots=True)
class Need:
    """What the node groups that launch in one subnet take of its addresses at their largest."""

    addresses: int
    groups: tuple[str, ...]
    """Their names."""


def addresses_by_subnet(groups: Iterable[NodeGroupPlan]) -> dict[str, Need]:
    """Return the need for addresses in each subnet that a node group launches in alone.

    A group over several subnets takes what it finds in any of them.
    """
    needs: dict[str, Need] = {}
    for group in groups:
        if len(group.subnets) == 1:
            (subnet,) = group.subnets
            before = needs.get(subnet, Need(0, ()))
            needs[subnet] = Need(
                before.addresses + addresses_needed(group), (*before.groups, group.name)
            )
    return needs


def review_rooms(groups: Iterable[NodeGroupPlan], network: NetworkPlan, review: Review) -> None:
    """Refuse subnets that are to be made too small for the nodes that launch there.

    Nothing is measured in addresses that are refused already.
    """
    refused = any(problem.path.startswith(f"{ROOT}.network.") for problem in review.problems)
    if not network.is_new or refused:
        return
    for name, need in addresses_by_subnet(groups).items():
        subnet = next((s for s in network.private_subnets if s.name == name), None)
        usable = subnet.usable_addresses if subnet else None
        if subnet is not None and usable is not None and need.addresses > usable:
            review.refuse(
                "network.cidr",
                (
                    f"gives the private subnet in {subnet.availability_zone} {usable} addresses; "
                    f"the interfaces and pods of {', '.join(need.groups)} need {need.addresses}, "
                    "and the nodes that get none fail to launch"
                ),
                found=f"{subnet.cidr} of {', '.join(network.blocks)}",
                allowed=f"room for {need.addresses} addresses",
                remedy=(
                    "give a larger `cidr` (or `private_subnet_cidrs`), fewer nodes, or "
                    "interface_layout: efa-only, which takes one address a node"
                ),
            )
