"""The groups of reservations that a stack makes, one for each that node groups launch into."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

from components.compute.reservation_group import ReservationGroup, ReservationGroupArgs
from components.eks.plan import EksPlan


def make_reservation_groups(
    name: str, plan: EksPlan, opts: pulumi.ResourceOptions
) -> Mapping[str, pulumi.Output[str]]:
    """Return the ARNs of the groups that the stack makes, by the name of the reservation.

    Node groups that buy from one `odcr-group` share its group. `opts` are those of a child.
    """
    wanted = {
        group.capacity.purchase_option: group.capacity.reservation_group_members
        for group in plan.node_groups
        if group.capacity.reservation_group_members
    }
    return {
        reservation: ReservationGroup(
            f"{name}-{reservation}",
            ReservationGroupArgs(members=members, region=plan.region, tags=plan.tags),
            opts,
        ).arn
        for reservation, members in wanted.items()
    }
