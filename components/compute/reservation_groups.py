"""Reservation groups that a stack creates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pulumi

from components.compute.node_pool_plan import NodePoolPlan
from components.compute.reservation_group import ReservationGroup, ReservationGroupArgs


def make_reservation_groups(
    name: str,
    pools: Iterable[NodePoolPlan],
    *,
    region: str,
    tags: Mapping[str, str],
    opts: pulumi.ResourceOptions,
    after: Sequence[pulumi.Resource] = (),
) -> Mapping[str, pulumi.Output[str]]:
    """Create the groups and return their ARNs, by the name of the reservation.

    Node pools with the same `odcr-group` share one group.

    Args:
        name: Prefix of the names of the groups.
        pools: All node pools of the stack.
        region: Region of the stack.
        tags: Tags of the groups.
        opts: Resource options for a child.
        after: Shares of other accounts that must be accepted before their reservations are added.
    """
    wanted = {
        pool.capacity.purchase_option: pool.capacity.reservation_group_members
        for pool in pools
        if pool.capacity.reservation_group_members
    }
    return {
        reservation: ReservationGroup(
            f"{name}-{reservation}",
            ReservationGroupArgs(members=members, region=region, tags=tags, after=after),
            opts,
        ).arn
        for reservation, members in wanted.items()
    }
