"""Security groups: those of a resource, and what their rules allow.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/security-group-rules.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args

from pulumi_policy import PolicyResource

from trainyard.policies.resources.props import UNKNOWN, Facts, is_true, number_of
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import (
    DEFAULT_SECURITY_GROUP,
    SECURITY_GROUP,
    SECURITY_GROUP_EGRESS_RULE,
    SECURITY_GROUP_INGRESS_RULE,
    SECURITY_GROUP_RULE,
    SUBNET,
)

Direction = Literal["ingress", "egress"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)

_EVERY_PROTOCOL = ("-1", "all")
_TCP = ("tcp", "6")
_RULE_OF: dict[Direction, str] = {
    "ingress": SECURITY_GROUP_INGRESS_RULE,
    "egress": SECURITY_GROUP_EGRESS_RULE,
}


def security_groups_of(
    stack: Stack, resource: PolicyResource, *path: str | int
) -> list[PolicyResource]:
    """Return the groups in a list of ids, each once; empty if one may not be in the stack.

    EKS creates a security group for each cluster, and no resource shows its rules.
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
    """Whether an id in a property may come from a resource that is not a security group."""
    found = resource.property_dependencies.get(name, [])
    return any(each.resource_type not in (SECURITY_GROUP, SUBNET) for each in found)


class SelfReferences:
    """The rules of a stack for all protocols in which a security group references itself.

    They are inline (`ingress`, `egress`) or separate resources, of the newer types or of the
    older `SecurityGroupRule`.
    """

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._found: set[tuple[str, Direction]] = {
            *self._inline(),
            *self._newer(),
            *self._older(),
        }

    def missing(self, group: PolicyResource) -> tuple[Direction, ...]:
        """Return the directions in which a group does not reference itself."""
        return tuple(d for d in DIRECTIONS if (group.urn, d) not in self._found)

    def _inline(self) -> Iterator[tuple[str, Direction]]:
        for group in self._stack.of_type(SECURITY_GROUP):
            facts = self._stack.facts_of(group.urn)
            for direction in DIRECTIONS:
                if facts.needed(direction) is UNKNOWN:  # may include the rule
                    yield group.urn, direction
                for index in range(facts.count(direction)):
                    protocol = facts.get(direction, index, "protocol")
                    if protocol in _EVERY_PROTOCOL and is_true(facts.get(direction, index, "self")):
                        yield group.urn, direction

    def _newer(self) -> Iterator[tuple[str, Direction]]:
        for direction, type_ in _RULE_OF.items():
            for rule in self._stack.of_type(type_):
                protocol = self._stack.facts_of(rule.urn).get("ipProtocol")
                if protocol in _EVERY_PROTOCOL:
                    for urn in self._both_sides(rule, "referencedSecurityGroupId"):
                        yield urn, direction

    def _older(self) -> Iterator[tuple[str, Direction]]:
        for rule in self._stack.of_type(SECURITY_GROUP_RULE):
            facts = self._stack.facts_of(rule.urn)
            direction = facts.get("type")
            if direction not in DIRECTIONS or facts.get("protocol") not in _EVERY_PROTOCOL:
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


Ports = tuple[int, int]
"""First and last port."""


def ports_not_passed(
    stack: Stack,
    groups: Sequence[PolicyResource],
    direction: Direction,
    wanted: Sequence[Ports],
) -> list[Ports]:
    """Return the TCP ports that no rule of the groups allows in a direction, for any peer.

    A rule with an unknown value counts as one that allows everything.
    """
    urns = {group.urn for group in groups}
    rules = [
        *_inline(stack, groups, direction),
        *_standalone(stack, urns, direction),
    ]
    return [ports for ports in wanted if not any(_covers(rule, ports) for rule in rules)]


_Rule = tuple[object, object, object]


def _inline(
    stack: Stack, groups: Sequence[PolicyResource], direction: Direction
) -> Iterator[_Rule]:
    for group in groups:
        facts = stack.facts_of(group.urn)
        if facts.get(direction) is UNKNOWN:
            yield UNKNOWN, UNKNOWN, UNKNOWN
        for index in range(facts.count(direction)):
            yield _rule(facts, (direction, index), "protocol")


def _standalone(stack: Stack, urns: set[str], direction: Direction) -> Iterator[_Rule]:
    for type_, protocol in ((_RULE_OF[direction], "ipProtocol"), (SECURITY_GROUP_RULE, "protocol")):
        for rule in stack.of_type(type_):
            facts = stack.facts_of(rule.urn)
            reference = stack.refers(rule, "securityGroupId", to=SECURITY_GROUP)
            owners = {group.urn for group in reference.resources} if reference else set[str]()
            meant = type_ != SECURITY_GROUP_RULE or facts.get("type") in (direction, UNKNOWN)
            if owners & urns and meant:
                yield _rule(facts, (), protocol)


def _rule(facts: Facts, place: tuple[str | int, ...], protocol: str) -> _Rule:
    return (
        facts.get(*place, protocol),
        facts.number(*place, "fromPort"),
        facts.number(*place, "toPort"),
    )


def _covers(rule: _Rule, ports: Ports) -> bool:
    protocol, first, last = rule
    protocol = protocol.lower() if isinstance(protocol, str) else protocol
    if UNKNOWN in rule or protocol in _EVERY_PROTOCOL:
        return True
    if protocol not in _TCP or not isinstance(first, int | float):
        return False
    return isinstance(last, int | float) and first <= ports[0] and ports[1] <= last


RULE_HOLDERS = (
    DEFAULT_SECURITY_GROUP,
    SECURITY_GROUP,
    SECURITY_GROUP_INGRESS_RULE,
    SECURITY_GROUP_RULE,
)

_WORLD = ("0.0.0.0/0", "::/0")
_EVERY_PORT = range(65536)
_NO_PORT = range(0)

_NEWER = ("ipProtocol", ("cidrIpv4",), ("cidrIpv6",))
_OLDER = ("protocol", ("cidrBlocks",), ("ipv6CidrBlocks",))


def opened_to_the_world(resource_type: str, facts: Facts) -> Iterator[tuple[str, range]]:
    """Yield each world CIDR (`0.0.0.0/0` or `::/0`) and the TCP ports that it can reach.

    Rules with a security group as source, such as the EFA rule for all protocols, are not
    included. The policy rule reports a value that is unknown.
    """
    if resource_type in (SECURITY_GROUP, DEFAULT_SECURITY_GROUP):
        for index in range(facts.count("ingress")):
            yield from _opened(facts, ("ingress", index), _OLDER)
    elif resource_type == SECURITY_GROUP_INGRESS_RULE:
        yield from _opened(facts, (), _NEWER)
    elif resource_type == SECURITY_GROUP_RULE and facts.needed("type") == "ingress":
        yield from _opened(facts, (), _OLDER)


def _opened(
    facts: Facts, place: tuple[str | int, ...], names: tuple[str, tuple[str], tuple[str]]
) -> Iterator[tuple[str, range]]:
    protocol_name, *networks = names
    world = [cidr for name in networks for cidr in _cidrs(facts, (*place, *name)) if cidr in _WORLD]
    if not world:
        return
    protocol = facts.needed(*place, protocol_name)
    first, last = facts.needed(*place, "fromPort"), facts.needed(*place, "toPort")
    for cidr in world:
        yield cidr, _ports(protocol, first, last)


def _cidrs(facts: Facts, place: tuple[str | int, ...]) -> list[Any]:
    value = facts.needed(*place)
    if value is None or value is UNKNOWN:
        return []
    return [value] if isinstance(value, str) else facts.values(*place)


def _ports(protocol: object, first: Any, last: Any) -> range:
    if isinstance(protocol, str) and protocol.lower() in _EVERY_PROTOCOL:
        return _EVERY_PORT
    if not isinstance(protocol, str) or protocol.lower() not in _TCP:
        return _NO_PORT
    first, last = number_of(first), number_of(last)
    if UNKNOWN in (first, last) or None in (first, last):
        return _NO_PORT
    return _EVERY_PORT if first < 0 else range(int(first), int(last) + 1)
