"""The cluster placement group that nodes launch into.

Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html
"""

from __future__ import annotations

from typing import Protocol

from trainyard.components.capacity.plan import PlacementPlan
from trainyard.components.catalog.instance_types import InstanceType
from trainyard.components.config.node_pool import Placement
from trainyard.components.config.reservations import CapacityBlock, Reservation


class PlacedPool(Protocol):
    """Fields of a node pool that the decision reads; each architecture has its own pools."""

    @property
    def placement(self) -> Placement:
        """Setting in the stack file."""
        ...

    @property
    def efa_enabled(self) -> bool:
        """Whether nodes use every EFA interface of their type."""
        ...

    @property
    def is_training(self) -> bool:
        """Whether the nodes run a distributed training job."""
        ...


class PlacementContradictionError(ValueError):
    """The stack file forces a placement that conflicts with the capacity."""

    def __init__(self, reason: str, *, allowed: str, remedy: str, rule: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.allowed = allowed
        self.remedy = remedy
        self.rule = rule


def plan_placement(
    pool: PlacedPool,
    instance_type: InstanceType,
    reservation: Reservation | None,
    *,
    one_zone: bool,
) -> PlacementPlan:
    """Return the placement group that the nodes of a pool launch into.

    `one_zone` says whether all nodes launch in one zone, which a cluster placement group needs.

    Raises:
        PlacementContradictionError: the stack file forces a placement that conflicts with the
            capacity.
    """
    if reservation is None:
        return _for_open_capacity(pool, instance_type, one_zone=one_zone)
    if isinstance(reservation, CapacityBlock):
        return _without_group(
            pool,
            (
                "a Capacity Block already places its instances close together, and supports no "
                "placement group"
            ),
            rule="B7",
        )
    if reservation.provenance == "aws-assisted":
        return _without_group(
            pool,
            (
                "AWS created this reservation in its own placement group; instances in a second "
                "one fail with InsufficientInstanceCapacity"
            ),
            rule="B10",
        )
    if reservation.provenance == "auto":
        return _before_the_account_is_asked(pool, instance_type, one_zone=one_zone)
    if reservation.placement_group is not None:
        return _in_the_group_of_the_reservation(pool, reservation.placement_group)
    return _for_reservation_without_group(pool, instance_type, one_zone=one_zone)


def _without_group(pool: PlacedPool, reason: str, *, rule: str) -> PlacementPlan:
    if pool.placement.group in {"create", "existing"}:
        raise PlacementContradictionError(
            f"forces a placement group, but {reason}",
            allowed="auto, none",
            remedy="remove `placement` of these nodes (the default `auto` uses no group here)",
            rule=rule,
        )
    return PlacementPlan(group="none", reason=reason)


def _in_the_group_of_the_reservation(pool: PlacedPool, group: str) -> PlacementPlan:
    agrees = pool.placement.group == "auto" or pool.placement.name == group
    if not agrees:
        raise PlacementContradictionError(
            (
                f"does not use the placement group {group!r}, in which the reservation was "
                "created; only instances in that group can use the reservation"
            ),
            allowed=f"auto, or `group: existing` with `name: {group}`",
            remedy="remove `placement` of these nodes (the default `auto` uses that group)",
            rule="B8",
        )
    return PlacementPlan(
        group="existing", name=group, reason="the reservation was created in this placement group"
    )


def _for_reservation_without_group(
    pool: PlacedPool, instance_type: InstanceType, *, one_zone: bool
) -> PlacementPlan:
    if pool.placement.group in {"create", "existing"}:
        return _forced(pool, instance_type, one_zone=one_zone)
    return PlacementPlan(
        group="none",
        reason="the reservation was created without a placement group, and its location is fixed",
    )


def _before_the_account_is_asked(
    pool: PlacedPool, instance_type: InstanceType, *, one_zone: bool
) -> PlacementPlan:
    """Return the safe choice while the placement group of a reservation is unknown.

    A placement group in addition to AWS's own fails every launch. No placement group fails only
    launches into a reservation in a group of the account, which the account checks detect before
    any resource is registered.
    """
    if pool.placement.group in {"create", "existing"}:
        return _forced(pool, instance_type, one_zone=one_zone)
    return PlacementPlan(
        group="none",
        reason="the placement group of the reservation is not known yet",
    )


def _for_open_capacity(
    pool: PlacedPool, instance_type: InstanceType, *, one_zone: bool
) -> PlacementPlan:
    if pool.placement.group in {"create", "existing"}:
        return _forced(pool, instance_type, one_zone=one_zone)
    if pool.placement.group == "none":
        return PlacementPlan(group="none", reason="the stack file sets none")
    wanted = pool.efa_enabled and pool.is_training
    if wanted and one_zone and instance_type.cluster_placement_supported:
        return PlacementPlan(
            group="create",
            reason="training with EFA runs fastest on instances that are close together",
        )
    return PlacementPlan(
        group="none",
        reason=(
            "a cluster placement group is in one zone"
            if wanted
            else "only training with EFA needs instances that are close together"
        ),
    )


def _forced(pool: PlacedPool, instance_type: InstanceType, *, one_zone: bool) -> PlacementPlan:
    if not one_zone:
        raise PlacementContradictionError(
            (
                "forces a placement group on nodes in several zones, but a cluster placement "
                "group is in one zone"
            ),
            allowed="auto, none, or a group together with `availability_zone` or one subnet",
            remedy="set `availability_zone`, or one subnet, of these nodes",
            rule="B5",
        )
    if not instance_type.cluster_placement_supported:
        raise PlacementContradictionError(
            f"forces a placement group, but {instance_type.name} cannot launch into a "
            "cluster placement group",
            allowed="auto, none",
            remedy="remove `placement` of these nodes",
            rule="B4",
        )
    reason = "the stack file sets it"
    if pool.placement.group == "existing":
        return PlacementPlan(group="existing", name=pool.placement.name, reason=reason)
    return PlacementPlan(group="create", reason=reason)
