"""The node pools that the options ask for, and what the account tells of their reservations."""

from __future__ import annotations

from trainyard.components.capacity.facts import ReservationFacts
from trainyard.components.capacity.reservations import is_aws_assisted, own_placement_group
from trainyard.init.account_listing import AccountListing
from trainyard.init.design import InitRequest, PoolDesign, ReservedNodes

ON_DEMAND_NODES = 2
"""Nodes of an On-Demand pool if nothing else is known: the fewest that communicate."""


def reserved_by(found: ReservationFacts, account_id: str) -> ReservedNodes:
    """Return the entry of `reservations` for a reservation of the account."""
    return ReservedNodes(
        kind=found.kind,
        reservation_id=found.reservation_id,
        zone=found.availability_zone,
        instance_count=found.known_count,
        placement_group=own_placement_group(found, account_id),
        aws_assisted=is_aws_assisted(found, account_id),
    )


def reserved_pool(
    found: ReservationFacts, listing: AccountListing, nodes: int | None
) -> PoolDesign:
    """Return the pool of a reservation: `nodes`, or all instances that are free."""
    free = found.available_count if found.state == "active" else None
    return PoolDesign(
        instance_type=found.instance_type,
        nodes=nodes or free or found.known_count or 1,
        reserved=reserved_by(found, listing.account_id),
    )


def on_demand_types(request: InitRequest, reserved_types: set[str]) -> list[str]:
    """Return the given instance types that are not those of a reservation."""
    return [each for each in request.instance_types if each not in reserved_types]


def pools_of_options(request: InitRequest, listing: AccountListing) -> list[PoolDesign]:
    """Return the pools of the given reservations that exist, and of the given instance types."""
    known = {each.reservation_id: each for each in listing.reservations}
    found = [known[each] for each in request.reservations if each in known]
    types = on_demand_types(request, {each.instance_type for each in found})
    return [
        *(
            reserved_pool(each, listing, request.nodes_at(index))
            for index, each in enumerate(found)
        ),
        *(
            PoolDesign(instance_type=each, nodes=request.nodes_at(index) or ON_DEMAND_NODES)
            for index, each in enumerate(types, len(found))
        ),
    ]
