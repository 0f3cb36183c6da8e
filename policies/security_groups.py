"""The security groups of a resource, and which of a stack let their members reach one another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from pulumi_policy import PolicyResource

from policies.props import UNKNOWN, is_true
from policies.resource_types import (
    SECURITY_GROUP,
    SECURITY_GROUP_EGRESS_RULE,
    SECURITY_GROUP_INGRESS_RULE,
    SECURITY_GROUP_RULE,
    SUBNET,
)
from policies.stack import Stack

Direction = Literal["ingress", "egress"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)

_ALL_PROTOCOLS = ("-1", "all")
_RULE_OF: dict[Direction, str] = {
    "ingress": SECURITY_GROUP_INGRESS_RULE,
    "egress": SECURITY_GROUP_EGRESS_RULE,
}


def security_groups_of(
    stack: Stack, resource: PolicyResource, *path: str | int
) -> list[PolicyResource]:
    """Return the groups in a list of ids, each once; empty if one is, or may be, made elsewhere.

    EKS makes one for each cluster, whose rules no resource shows.
    """
    found: dict[str, PolicyResource] = {}
    facts = stack.facts_of(resource.urn)
    whole = facts.get(*path) is UNKNOWN
    for place in [path] if whole else [(*path, index) for index in range(facts.count(*path))]:
        reference = stack.refers(resource, *place, to=SECURITY_GROUP)
        computed = facts.get(*place) is UNKNOWN
        if reference is None or reference.elsewhere:
            return []
        if computed and _depends_on_others(resource, str(path[0])):
            return []
        found.update((group.urn, group) for group in reference.resources)
    return list(found.values())


def _depends_on_others(resource: PolicyResource, name: str) -> bool:
    """Whether an id in a property may come from something else than a group of the stack."""
    found = resource.property_dependencies.get(name, [])
    return any(each.resource_type not in (SECURITY_GROUP, SUBNET) for each in found)


class SelfReferences:
    """The rules of a stack by which a security group names itself, for all protocols.

    They stand in the group (`ingress`, `egress`), or are resources of their own, of the newer
    types or of the older one.
    """

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._found: set[tuple[str, Direction]] = {
            *self._inline(),
            *self._newer(),
            *self._older(),
        }

    def missing(self, group: PolicyResource) -> tuple[Direction, ...]:
        """Return the directions in which a group does not name itself."""
        return tuple(d for d in DIRECTIONS if (group.urn, d) not in self._found)

    def _inline(self) -> Iterator[tuple[str, Direction]]:
        for group in self._stack.of_type(SECURITY_GROUP):
            facts = self._stack.facts_of(group.urn)
            for direction in DIRECTIONS:
                if facts.needed(direction) is UNKNOWN:  # may hold the rule: no fault to report
                    yield group.urn, direction
                for index in range(facts.count(direction)):
                    protocol = facts.get(direction, index, "protocol")
                    if protocol in _ALL_PROTOCOLS and is_true(facts.get(direction, index, "self")):
                        yield group.urn, direction

    def _newer(self) -> Iterator[tuple[str, Direction]]:
        for direction, type_ in _RULE_OF.items():
            for rule in self._stack.of_type(type_):
                protocol = self._stack.facts_of(rule.urn).get("ipProtocol")
                if protocol in _ALL_PROTOCOLS:
                    for urn in self._both_sides(rule, "referencedSecurityGroupId"):
                        yield urn, direction

    def _older(self) -> Iterator[tuple[str, Direction]]:
        for rule in self._stack.of_type(SECURITY_GROUP_RULE):
            facts = self._stack.facts_of(rule.urn)
            direction = facts.get("type")
            if direction not in DIRECTIONS or facts.get("protocol") not in _ALL_PROTOCOLS:
                continue
            to_itself = is_true(facts.get("self"))
            other = "securityGroupId" if to_itself else "sourceSecurityGroupId"
            for urn in self._both_sides(rule, other):
                yield urn, direction

    def _both_sides(self, rule: PolicyResource, other: str) -> set[str]:
        return self._urns(rule, "securityGroupId") & self._urns(rule, other)

    def _urns(self, rule: PolicyResource, name: str) -> set[str]:
        reference = self._stack.refers(rule, name, to=SECURITY_GROUP)
        return {group.urn for group in reference.resources} if reference else set()
