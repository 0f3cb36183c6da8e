"""Check and plan of a pool's placement."""

from __future__ import annotations

from trainyard.components.capacity.placement import (
    PlacedPool,
    PlacementContradictionError,
    plan_placement,
)
from trainyard.components.capacity.plan import PlacementPlan
from trainyard.components.catalog.instance_types import InstanceType
from trainyard.components.config.problems import Review
from trainyard.components.config.reservations import Reservation


def reviewed_placement(
    key: str,
    pool: PlacedPool,
    instance_type: InstanceType,
    reservation: Reservation | None,
    review: Review,
    *,
    one_zone: bool,
) -> PlacementPlan | None:
    """Return the placement of a pool, or record a conflict with its capacity and return None.

    Args:
        key: The pool's place in the stack file, relative to `trainyard:cluster`.
        pool: The pool.
        instance_type: Type of its nodes.
        reservation: Reservation of its nodes; None without one.
        review: Records a conflict.
        one_zone: Whether all its nodes launch in one zone.
    """
    try:
        return plan_placement(pool, instance_type, reservation, one_zone=one_zone)
    except PlacementContradictionError as contradiction:
        forced = pool.placement
        review.refuse(
            f"{key}.placement.group",
            contradiction.reason,
            found=f"{forced.group} {forced.name}" if forced.name else forced.group,
            allowed=contradiction.allowed,
            remedy=_with_command(contradiction.remedy, f"{key}.placement", review),
            rules=(contradiction.rule,),
        )
        return None


def _with_command(remedy: str, key: str, review: Review) -> str:
    """Return a fix with the command that removes the section, if that is the fix."""
    removes = remedy.startswith("remove `placement`")
    return f"{remedy}: {review.remove_command(key)}" if removes else remedy
