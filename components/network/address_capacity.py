"""Checks that subnets have enough addresses for a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from trainyard.components.config.problems import ROOT, Review
from trainyard.components.network.network_plan import NetworkPlan


@dataclass(frozen=True, slots=True)
class AddressNeed:
    """Maximum number of addresses needed in one subnet."""

    addresses: int
    users: tuple[str, ...]
    """Names of their users."""


def needs_of(taken: Iterable[tuple[str, int, str]]) -> dict[str, AddressNeed]:
    """Return the need of each subnet, from tuples of subnet, addresses and user."""
    needs: dict[str, AddressNeed] = {}
    for subnet, addresses, user in taken:
        before = needs.get(subnet, AddressNeed(0, ()))
        needs[subnet] = AddressNeed(before.addresses + addresses, (*before.users, user))
    return needs


def review_new_subnets(
    needs: Mapping[str, AddressNeed],
    network: NetworkPlan,
    review: Review,
    *,
    takers: str,
    remedy: str,
) -> None:
    """Refuse new subnets that are too small.

    Addresses that are already refused are not checked.

    Args:
        needs: Needs by subnet reference.
        network: Plan of the network.
        review: Records the problems.
        takers: What uses the addresses, for messages: `interfaces and pods`.
        remedy: Alternative to larger networks.
    """
    refused = any(problem.path.startswith(f"{ROOT}.network.") for problem in review.problems)
    if not network.is_new or refused:
        return
    for subnet in network.subnets:
        need, usable = needs.get(subnet.name), subnet.usable_addresses
        if need is not None and usable is not None and need.addresses > usable:
            kind = "public" if subnet.public else "private"
            review.refuse(
                "network.cidr",
                (
                    f"gives the {kind} subnet in {subnet.availability_zone} {usable} addresses; "
                    f"the {takers} of {', '.join(need.users)} need {need.addresses}, and nodes "
                    "without an address fail to launch"
                ),
                found=f"{subnet.cidr} of {', '.join(network.blocks)}",
                allowed=f"room for {need.addresses} addresses",
                remedy=f"set a larger `cidr` (or `{kind}_subnet_cidrs`), {remedy}",
            )
