"""Which capacity reservations of a stack a launch may go into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pulumi_policy import PolicyResource

from policies.props import UNKNOWN
from policies.resource_types import (
    AUTO_SCALING_GROUP,
    CAPACITY_BLOCK_RESERVATION,
    CAPACITY_RESERVATION,
    RESOURCE_GROUP,
    RESOURCE_GROUP_MEMBER,
)
from policies.stack import Reference, Stack

RESERVATIONS = (CAPACITY_RESERVATION, CAPACITY_BLOCK_RESERVATION)
TARGET = ("capacityReservationSpecification", "capacityReservationTarget")
PREFERENCE = ("capacityReservationSpecification", "capacityReservationPreference")
ONLY = "capacity-reservations-only"

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """What a launch targets, by id or through a group of reservations."""

    reservations: tuple[PolicyResource, ...]
    """Reservations of the stack that it may be; a group has several."""
    elsewhere: bool
    """Whether there may be others that the stack does not hold."""


def target_of(stack: Stack, resource: PolicyResource) -> Target | None:
    """Return what a launch template, an instance or an Auto Scaling group targets itself."""
    references = [
        *(_one_of(stack, resource, path) for path in _paths(stack, resource, "Id")),
        *(
            _members(stack, stack.refers(resource, *path, to=RESOURCE_GROUP))
            for path in _paths(stack, resource, "ResourceGroupArn")
        ),
    ]
    return _joined(references) if references else None


def is_made_here(stack: Stack, resource: PolicyResource) -> bool:
    """Whether all that a launch targets are reservations of the stack, so the user's own."""
    target = target_of(stack, resource)
    return target is not None and bool(target.reservations) and not target.elsewhere


def target_by_name(
    stack: Stack, reservation_id: str | None, group_arn: str | None
) -> Target | None:
    """Return what a launch targets that names a reservation or a group in words."""
    if reservation_id is not None:
        return _joined([stack.named(reservation_id, *RESERVATIONS)])
    if group_arn is not None:
        return _joined([_members(stack, stack.named(group_arn, RESOURCE_GROUP))])
    return None


def targeted_groups(stack: Stack, resource: PolicyResource) -> Iterator[PolicyResource]:
    """Yield the resource groups of the stack that a launch may target."""
    for path in _paths(stack, resource, "ResourceGroupArn"):
        reference = stack.refers(resource, *path, to=RESOURCE_GROUP)
        yield from reference.resources if reference else ()


def _paths(stack: Stack, resource: PolicyResource, what: str) -> Iterator[Path]:
    """Yield where a launch says an id or an ARN; Auto Scaling groups have lists of them."""
    facts = stack.facts_of(resource.urn)
    several = resource.resource_type == AUTO_SCALING_GROUP
    path: Path = (*TARGET, f"capacityReservation{what}{'s' if several else ''}")
    if several and facts.get(*path) is not UNKNOWN:
        yield from ((*path, index) for index in range(facts.count(*path)))
    elif facts.get(*path) not in (None, ""):
        yield path


def _one_of(stack: Stack, resource: PolicyResource, path: Path) -> Reference:
    references = (stack.refers(resource, *path, to=type_) for type_ in RESERVATIONS)
    found = [each for reference in references if reference for each in reference.resources]
    return Reference(tuple(found), elsewhere=not found)


def _members(stack: Stack, groups: Reference | None) -> Reference:
    """Return the reservations that the stack puts into groups; one without any is filled later."""
    if groups is None or groups.elsewhere:
        return Reference((), elsewhere=True)
    urns = {group.urn for group in groups.resources}
    members = [
        _one_of(stack, member, ("resourceArn",))
        for member in stack.of_type(RESOURCE_GROUP_MEMBER)
        if urns & _urns(stack.refers(member, "groupArn", to=RESOURCE_GROUP))
    ]
    found = {each.urn: each for member in members for each in member.resources}
    elsewhere = not members or any(member.elsewhere for member in members)
    return Reference(tuple(found.values()), elsewhere=elsewhere)


def _urns(reference: Reference | None) -> set[str]:
    return {each.urn for each in reference.resources} if reference else set()


def _joined(references: list[Reference]) -> Target:
    found = {each.urn: each for reference in references for each in reference.resources}
    return Target(tuple(found.values()), any(reference.elsewhere for reference in references))
