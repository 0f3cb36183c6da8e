"""Reservations, and groups of reservations, that a stack creates for its node pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import pulumi

from trainyard.components.compute.capacity_reservation import (
    CapacityReservation,
    CapacityReservationArgs,
)
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.compute.reservation_group import ReservationGroup, ReservationGroupArgs


class PlanWithPools(Protocol):
    """Fields of a stack's plan that the reservations need; each architecture has its own plan."""

    @property
    def node_pools(self) -> Sequence[NodePoolPlan]:
        """All node pools."""
        ...

    @property
    def region(self) -> str:
        """Region of the stack."""
        ...

    @property
    def tags(self) -> Mapping[str, str]:
        """Tags of the reservations and groups."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeReservations:
    """What a stack has created, by the name in the stack file."""

    ids: Mapping[str, pulumi.Output[str]]
    """Of reservations."""
    group_arns: Mapping[str, pulumi.Output[str]]
    """Of groups of reservations."""


def make_reservations(
    name: str,
    plan: PlanWithPools,
    *,
    platform: str,
    opts: pulumi.ResourceOptions,
    after: Sequence[pulumi.Resource] = (),
) -> MadeReservations:
    """Create the reservations and groups of the node pools of a plan.

    Node pools with the same entry share one; the review of the stack file ensures that those of a
    reservation have one instance type.

    Args:
        name: Prefix of the names.
        plan: Plan of the stack.
        platform: Platform of its nodes.
        opts: Resource options for a child.
        after: Shares of other accounts that must be accepted before their reservations are added to
            a group.
    """
    used = {pool.capacity.purchase_option: pool for pool in plan.node_pools}
    return MadeReservations(
        ids={
            entry: CapacityReservation(
                f"{name}-{entry}",
                CapacityReservationArgs(
                    plan=pool.capacity.creation,
                    entry=entry,
                    instance_type=pool.instance_type.name,
                    platform=platform,
                    region=plan.region,
                    tags=plan.tags,
                ),
                opts,
            ).reservation_id
            for entry, pool in used.items()
            if pool.capacity.creation is not None
        },
        group_arns={
            entry: ReservationGroup(
                f"{name}-{entry}",
                ReservationGroupArgs(
                    members=pool.capacity.reservation_group_members,
                    region=plan.region,
                    tags=plan.tags,
                    after=after,
                ),
                opts,
            ).arn
            for entry, pool in used.items()
            if pool.capacity.reservation_group_members
        },
    )
