"""Placement groups of a stack that launches and pools use.

Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pulumi_policy import PolicyResource

from trainyard.policies.resources.launches import LAUNCHES, PLACEMENT_GROUP_PATHS, Launch
from trainyard.policies.resources.pools import Pool
from trainyard.policies.resources.props import UNKNOWN, is_set
from trainyard.policies.resources.reservations import target_of
from trainyard.policies.resources.stack import Reference, Stack
from trainyard.policies.resources.types import (
    CAPACITY_RESERVATION,
    PLACEMENT_GROUP,
)


def placement_of(stack: Stack, resource: PolicyResource) -> Reference | None:
    """Return the placement group that a launch or a pool itself names; None if it names none."""
    facts = stack.facts_of(resource.urn)
    for path in PLACEMENT_GROUP_PATHS.get(resource.resource_type, ()):
        value = facts.get(*path)
        if not is_set(value):
            continue
        by_id = [
            group
            for group in stack.of_type(PLACEMENT_GROUP)
            if stack.facts_of(group.urn).get("placementGroupId") == value
        ]
        if by_id:
            return Reference(tuple(by_id), elsewhere=False)
        return stack.refers(resource, *path, to=PLACEMENT_GROUP)
    return None


def placement_of_pool(
    stack: Stack, pool: Pool, template: PolicyResource | None
) -> Reference | None:
    """Return the placement group that a pool sets, or else its launch template."""
    own = placement_of(stack, pool.resource)
    return own if own is not None or template is None else placement_of(stack, template)


def is_cluster(stack: Stack, placement: Reference | None) -> bool:
    """Whether it is a cluster placement group; False if another program creates the group."""
    if placement is None or placement.elsewhere:
        return False
    strategies = {stack.facts_of(each.urn).get("strategy") for each in placement.resources}
    return strategies == {"cluster"}


def in_cluster_group(stack: Stack, pool: Pool) -> bool:
    """Whether a pool launches into a cluster placement group, with any of its templates."""
    templates = [template for template, _ in pool.templates()] or [None]
    return any(is_cluster(stack, placement_of_pool(stack, pool, t)) for t in templates)


@dataclass(frozen=True, slots=True)
class ReservedPlacement:
    """A launch into a placement group, with the reservations of the stack that may serve it."""

    stack: Stack
    urn: str
    """URN of the launch."""
    group: str | None
    """Name of its group: of the resource, or as given; None if only the id is known."""
    reservations: tuple[PolicyResource, ...]

    def is_placed(self, reservation: PolicyResource) -> bool:
        """Whether a reservation is in a placement group."""
        return is_set(self.stack.facts_of(reservation.urn).get("placementGroupArn"))

    def name_of(self, reservation: PolicyResource) -> str | None:
        """Return the name of the group of a reservation; None without a group or if unknown."""
        group = self.stack.refers(reservation, "placementGroupArn", to=PLACEMENT_GROUP)
        if group is None:
            return None
        arn = self.stack.facts_of(reservation.urn).get("placementGroupArn")
        return _name(group, str(arn).rpartition("/")[2] if isinstance(arn, str) else UNKNOWN)


def reserved_placements(stack: Stack, *, open_ones: bool = False) -> Iterator[ReservedPlacement]:
    """Yield the launches into a placement group that target On-Demand reservations of the stack.

    With `open_ones`, also launches without a target that match the type of an open reservation.
    """
    for launch in stack.of_type(*LAUNCHES):
        placement = placement_of(stack, launch)
        if placement is None:
            continue
        target = target_of(stack, launch)
        found = target.reservations if target and not target.elsewhere else ()
        if target is None and open_ones:
            found = tuple(_open_matches(stack, launch))
        of_this = tuple(r for r in found if r.resource_type == CAPACITY_RESERVATION)
        if of_this:
            paths = PLACEMENT_GROUP_PATHS[launch.resource_type]
            path = next(p for p in paths if _is_given(stack, launch, p))
            by_name = path == paths[0]
            spelled = stack.facts_of(launch.urn).get(*path) if by_name else UNKNOWN
            name = _name(placement, spelled)
            yield ReservedPlacement(stack, launch.urn, name, of_this)


def _is_given(stack: Stack, launch: PolicyResource, path: tuple[str, ...]) -> bool:
    return is_set(stack.facts_of(launch.urn).get(*path))


def _open_matches(stack: Stack, launch: PolicyResource) -> Iterator[PolicyResource]:
    facts = stack.facts_of(launch.urn)
    if Launch(launch.resource_type, facts).preference not in (None, "open"):
        return
    for reservation in stack.of_type(CAPACITY_RESERVATION):
        theirs = stack.facts_of(reservation.urn)
        matches = theirs.get("instanceMatchCriteria") in (None, "open")
        type_ = theirs.get("instanceType")
        if matches and isinstance(type_, str) and type_ == facts.get("instanceType"):
            yield reservation


def _name(placement: Reference, spelled: Any) -> str | None:
    if len(placement.resources) == 1:
        return placement.resources[0].name
    return spelled if isinstance(spelled, str) else None
