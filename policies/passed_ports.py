"""Which TCP ports the security groups of a resource pass, whatever is on the other side.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/security-group-rules.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulumi_policy import PolicyResource

from policies.props import UNKNOWN, Facts
from policies.resource_types import (
    SECURITY_GROUP,
    SECURITY_GROUP_EGRESS_RULE,
    SECURITY_GROUP_INGRESS_RULE,
    SECURITY_GROUP_RULE,
)
from policies.security_groups import Direction
from policies.stack import Stack

Ports = tuple[int, int]
"""First and last port."""

_EVERY_PROTOCOL = ("-1", "all")
_TCP = ("tcp", "6")
_RULE_OF: dict[Direction, str] = {
    "ingress": SECURITY_GROUP_INGRESS_RULE,
    "egress": SECURITY_GROUP_EGRESS_RULE,
}


def ports_not_passed(
    stack: Stack,
    groups: Sequence[PolicyResource],
    direction: Direction,
    wanted: Sequence[Ports],
) -> list[Ports]:
    """Return the ports that no rule of any of the groups passes in a direction.

    Rules stand in the group itself, or are resources of their own, of the newer types or of the
    older one. One of which something is not known yet passes everything.
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
