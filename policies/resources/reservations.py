"""Capacity reservations: what a launch targets, and what the configuration declares of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pulumi_policy import PolicyConfigSchema, PolicyResource

from trainyard.policies.resources.props import UNKNOWN
from trainyard.policies.resources.stack import Reference, Stack
from trainyard.policies.resources.types import (
    AUTO_SCALING_GROUP,
    CAPACITY_BLOCK_RESERVATION,
    CAPACITY_RESERVATION,
    RESOURCE_GROUP,
    RESOURCE_GROUP_MEMBER,
)

RESERVATION_TYPES = (CAPACITY_RESERVATION, CAPACITY_BLOCK_RESERVATION)
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
    """Whether there may be others that are not in the stack."""


def target_of(stack: Stack, resource: PolicyResource) -> Target | None:
    """Return the target that a launch template, an instance or an Auto Scaling group sets."""
    references = [
        *(_one_of(stack, resource, path) for path in _paths(stack, resource, "Id")),
        *(
            _members(stack, stack.refers(resource, *path, to=RESOURCE_GROUP))
            for path in _paths(stack, resource, "ResourceGroupArn")
        ),
    ]
    return _joined(references) if references else None


def is_made_here(stack: Stack, resource: PolicyResource) -> bool:
    """Whether the stack creates every reservation that a launch targets."""
    target = target_of(stack, resource)
    return target is not None and bool(target.reservations) and not target.elsewhere


def target_by_name(
    stack: Stack, reservation_id: str | None, group_arn: str | None
) -> Target | None:
    """Return the target for a reservation id or the ARN of a group in a document."""
    if reservation_id is not None:
        return _joined([stack.named(reservation_id, *RESERVATION_TYPES)])
    if group_arn is not None:
        return _joined([_members(stack, stack.named(group_arn, RESOURCE_GROUP))])
    return None


def targeted_groups(stack: Stack, resource: PolicyResource) -> Iterator[PolicyResource]:
    """Yield the resource groups of the stack that a launch may target."""
    for path in _paths(stack, resource, "ResourceGroupArn"):
        reference = stack.refers(resource, *path, to=RESOURCE_GROUP)
        yield from reference.resources if reference else ()


def _paths(stack: Stack, resource: PolicyResource, what: str) -> Iterator[Path]:
    """Yield the paths of an id or an ARN in a launch; Auto Scaling groups have lists of them."""
    facts = stack.facts_of(resource.urn)
    several = resource.resource_type == AUTO_SCALING_GROUP
    path: Path = (*TARGET, f"capacityReservation{what}{'s' if several else ''}")
    if several and facts.get(*path) is not UNKNOWN:
        yield from ((*path, index) for index in range(facts.count(*path)))
    elif facts.get(*path) not in (None, ""):
        yield path


def _one_of(stack: Stack, resource: PolicyResource, path: Path) -> Reference:
    references = (stack.refers(resource, *path, to=type_) for type_ in RESERVATION_TYPES)
    found = [each for reference in references if reference for each in reference.resources]
    return Reference(tuple(found), elsewhere=not found)


def _members(stack: Stack, groups: Reference | None) -> Reference:
    """Return the reservations that the stack adds to groups; others may join an empty group."""
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


OWN = "own_reservations"
ASSISTED = "assisted_reservations"
CAPACITY_BLOCKS = "capacity_blocks"
DECLARED_KEYS = frozenset({OWN, ASSISTED, CAPACITY_BLOCKS})

DECLARED_SCHEMA = PolicyConfigSchema(
    {
        OWN: {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": (
                "Your own reservations, by id or by ARN of their resource group: the "
                "placement group that each was created in, or an empty string."
            ),
        },
        ASSISTED: {
            "type": "array",
            "items": {"type": "string"},
            "description": "Ids and group ARNs of reservations that AWS created for you.",
        },
        CAPACITY_BLOCKS: {
            "type": "array",
            "items": {"type": "string"},
            "description": "Ids of the reservations that are Capacity Blocks.",
        },
    }
)
"""Configuration of a rule that needs to know who created a reservation, and where.

A resource does not show that of a reservation that it targets. The rule reads the same keys
whether the configuration declares the reservations or `trainyard.policies.pack.lookup` finds them.
"""

_UNUSED = "such launches fail with InsufficientInstanceCapacity while the reservation is unused"


def placement_fault(group: Any, reservation: Any, config: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a placement group and a targeted reservation; None if nothing is.

    Args:
        group: name or id, `UNKNOWN`, or None if the launch names none.
        reservation: id or ARN of a group of reservations, `UNKNOWN`, or None.
        config: as `DECLARED_SCHEMA` describes it.
    """
    if group is None or reservation is None:
        return None
    own, group_name = config.get(OWN) or {}, _named(group, "a placement group")
    if reservation in (config.get(ASSISTED) or ()):
        return (
            f"it targets {reservation}, which AWS created in another placement group, and also "
            f"launches into {group_name}; {_UNUSED}; remove the placement group"
        )
    if reservation not in own and not _is_group_of(own, reservation, group):
        return (
            f"it targets {_named(reservation, 'a reservation')} and also launches into "
            f"{group_name}; if AWS created the reservation, it already has a placement group, and "
            f"{_UNUSED}; remove the placement group, or, if you created the reservation in that "
            "group, declare it in own_reservations of this rule's configuration"
        )
    if own.get(reservation, group) not in ("", group):
        return (
            f"it launches into {group_name}, but {reservation} was created in "
            f"{own[reservation]!r}, and {_UNUSED}; use {own[reservation]!r}, or remove the "
            "placement group"
        )
    return None


def block_placement_fault(fix: str, *, group: object = None) -> str:
    """Return the message for a launch into a Capacity Block and a placement group.

    Args:
        fix: end of the message.
        group: name or id, `UNKNOWN`, or None to leave it out.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html
    """
    name = "a placement group" if group is None else _named(group, "a placement group")
    return (
        f"it launches into a Capacity Block and into {name}; EC2 already places the instances of "
        f"a block together, so launches into a placement group fail; {fix}"
    )


def _is_group_of(own: Mapping[str, str], target: object, group: object) -> bool:
    """Whether a group of reservations is targeted in the placement group of its members.

    A program cannot declare the ARN of a group that it creates itself.
    """
    is_group = target is UNKNOWN or str(target).startswith("arn:")
    return is_group and group is not UNKNOWN and group in own.values()


def _named(value: object, noun: str) -> str:
    return f"{noun} that this program creates" if value is UNKNOWN else repr(value)
