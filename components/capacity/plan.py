"""Capacity decisions that all architectures share, as plain records.

`plan_capacity`, `plan_placement` and `plan_schedule` create them; EKS, ParallelCluster and Batch
only read them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

LINUX = "Linux/UNIX"
"""Platform of Amazon Linux. Instances launch only into a reservation with the same platform.

https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationPlan:
    """An On-Demand Capacity Reservation that the stack creates for its nodes."""

    instance_count: int
    availability_zone: str
    """Name."""
    placement_group: str | None
    """Existing cluster placement group in which it is created."""
    ends_at: datetime | None
    """UTC; None without an end."""
    deletion_protection: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityPlan:
    """Settings of launch templates and node groups for a purchase option."""

    purchase_option: str
    """`on-demand`, `spot`, or the name of a reservation in the stack file."""
    kind: Literal["on-demand", "spot", "odcr", "odcr-group", "capacity-block"]
    market_type: Literal["spot", "capacity-block"] | None = None
    """`InstanceMarketOptions.MarketType`; None for On-Demand."""
    reservation_id: str | None = None
    """`CapacityReservationTarget.CapacityReservationId`. With `creation`, it is known only after
    the account was read, and is that of the reservation that the stack has created."""
    creation: CreationPlan | None = None
    """The reservation that the stack creates; None for existing ones."""
    reservation_group_arn: str | None = None
    """`CapacityReservationTarget.CapacityReservationResourceGroupArn` of an existing group."""
    reservation_group_members: tuple[str, ...] = ()
    """Ids or ARNs of the reservations from which the stack creates a group; empty for an existing
    group."""
    preference: Literal["capacity-reservations-only"] | None = None
    """`CapacityReservationPreference`; with a target, the API allows only this value."""
    availability_zone: str | None = None
    """The only zone that nodes may launch in; None if the subnets decide."""
    eks_capacity_type: Literal["ON_DEMAND", "SPOT", "CAPACITY_BLOCK"] = "ON_DEMAND"
    """`capacityType` of an EKS managed node group."""

    @property
    def is_reserved(self) -> bool:
        """Whether nodes launch into a reservation, which limits their number."""
        return self.kind in ("odcr", "odcr-group", "capacity-block")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementPlan:
    """The cluster placement group that instances launch into, if any."""

    group: Literal["none", "create", "existing"]
    name: str | None = None
    """Name of an existing group; None otherwise."""
    reason: str
    """One sentence for the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatePlan:
    """How EKS replaces the nodes of a managed group; exactly one of the two limits is set."""

    strategy: Literal["DEFAULT", "MINIMAL"]
    """`DEFAULT` launches new nodes first, `MINIMAL` terminates old ones first."""
    maximum_unavailable: int | None = None
    """Number of nodes that are replaced at a time."""
    maximum_unavailable_percentage: int | None = None
    """Percentage of the nodes that are replaced at a time."""


ONE_BY_ONE = UpdatePlan(strategy="DEFAULT", maximum_unavailable=1)
"""The default of EKS, which needs spare capacity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulePlan:
    """Sizes of a node group now, and when a Capacity Block changes them."""

    state: Literal["unlimited", "scheduled", "active", "ending", "expired"]
    """`unlimited`: no known end. `ending`: the nodes have left, and the block has not ended."""
    minimum: int
    """Minimum size to register now."""
    desired: int
    """Desired size to register now; 0 before a block starts and when its nodes have left."""
    maximum: int
    scale_up_at: datetime | None = None
    """UTC; None if nothing is scheduled."""
    scale_up_minimum: int = 0
    """Minimum size from `scale_up_at`."""
    scale_up_desired: int = 0
    """Desired size from `scale_up_at`."""
    scale_down_at: datetime | None = None
    """UTC, `nodes_leave_before_end` of the type; None if nothing is scheduled."""
    starts_at: datetime | None = None
    """Start of the block in UTC; None if unknown or without one."""
    ends_at: datetime | None = None
    """End of the block in UTC; None if unknown or without one."""
    wait_for_capacity: bool = True
    """Whether `up` waits until the nodes are in service."""
    message: str | None = None
    """Information for the user: when nodes are added or removed."""

    @property
    def moved_by_schedule(self) -> bool:
        """Whether a scheduled action changes the sizes in the future."""
        return self.scale_up_at is not None or self.scale_down_at is not None
