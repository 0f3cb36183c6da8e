"""The decisions about capacity that every architecture shares, as plain records.

`plan_capacity`, `plan_placement` and `plan_schedule` make them; EKS, ParallelCluster and Batch
only read them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityPlan:
    """What a launch template and a node group must say to use a purchase option."""

    purchase_option: str
    """As the stack file names it: `on-demand`, `spot`, or the name of a reservation."""
    kind: Literal["on-demand", "spot", "odcr", "odcr-group", "capacity-block"]
    market_type: Literal["spot", "capacity-block"] | None = None
    """`InstanceMarketOptions.MarketType`; None leaves it to On-Demand."""
    reservation_id: str | None = None
    """`CapacityReservationTarget.CapacityReservationId`."""
    reservation_group_arn: str | None = None
    """`CapacityReservationTarget.CapacityReservationResourceGroupArn` of a group that exists."""
    reservation_group_members: tuple[str, ...] = ()
    """Ids of reservations of this account, or ARNs, from which the stack makes a group to target;
    empty where one exists."""
    preference: Literal["capacity-reservations-only"] | None = None
    """`CapacityReservationPreference`; the API takes it beside a target with this value only."""
    availability_zone: str | None = None
    """The one zone nodes may launch in; None leaves it to the subnets."""
    eks_capacity_type: Literal["ON_DEMAND", "SPOT", "CAPACITY_BLOCK"] = "ON_DEMAND"
    """`capacityType` of an EKS managed node group."""

    @property
    def is_reserved(self) -> bool:
        """Whether nodes launch into a reservation, which has no more instances than it has."""
        return self.kind in ("odcr", "odcr-group", "capacity-block")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementPlan:
    """The cluster placement group that instances launch into, if any."""

    group: Literal["none", "create", "existing"]
    name: str | None = None
    """Name of the group where one exists already; None otherwise."""
    reason: str
    """Why, as one sentence for the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatePlan:
    """How the nodes of a managed group are replaced; exactly one of the two limits is given."""

    strategy: Literal["DEFAULT", "MINIMAL"]
    """`DEFAULT` launches new nodes first, `MINIMAL` terminates old ones first."""
    maximum_unavailable: int | None = None
    """Nodes that are replaced at a time."""
    maximum_unavailable_percentage: int | None = None
    """Share of the nodes that are replaced at a time, in percent."""


ONE_BY_ONE = UpdatePlan(strategy="DEFAULT", maximum_unavailable=1)
"""EKS's own way, where there is capacity for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulePlan:
    """How many nodes are wanted now, and when a Capacity Block changes that."""

    state: Literal["unlimited", "scheduled", "active", "ending", "expired"]
    """`unlimited`: no end known. `ending`: within the last 40 minutes before the end."""
    minimum: int
    """Minimum size to register now."""
    desired: int
    """Desired size to register now; 0 before a block starts and from 40 minutes before its end."""
    maximum: int
    scale_up_at: datetime | None = None
    """UTC; None where nothing is to be scheduled."""
    scale_up_minimum: int = 0
    """Minimum size from `scale_up_at` on."""
    scale_up_desired: int = 0
    """Desired size from `scale_up_at` on."""
    scale_down_at: datetime | None = None
    """UTC, 40 minutes before the end."""
    wait_for_capacity: bool = True
    """Whether `up` waits until the nodes are in service."""
    message: str | None = None
    """What the user should know: when nodes come, or that they go."""

    @property
    def moved_by_schedule(self) -> bool:
        """Whether scheduled actions change the sizes at a time that is still to come."""
        return self.scale_up_at is not None or self.scale_down_at is not None
