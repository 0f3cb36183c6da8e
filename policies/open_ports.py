"""What the rules of a security group open to every address of the internet.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/security-group-rules.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policies.props import UNKNOWN, Facts, number_of
from policies.resource_types import (
    DEFAULT_SECURITY_GROUP,
    SECURITY_GROUP,
    SECURITY_GROUP_INGRESS_RULE,
    SECURITY_GROUP_RULE,
)

RULE_HOLDERS = (
    DEFAULT_SECURITY_GROUP,
    SECURITY_GROUP,
    SECURITY_GROUP_INGRESS_RULE,
    SECURITY_GROUP_RULE,
)

_WORLD = ("0.0.0.0/0", "::/0")
_EVERY_PROTOCOL = ("-1", "all")
_TCP = ("tcp", "6")
_EVERY_PORT = range(65536)
_NO_PORT = range(0)

_NEWER = ("ipProtocol", ("cidrIpv4",), ("cidrIpv6",))
_OLDER = ("protocol", ("cidrBlocks",), ("ipv6CidrBlocks",))


def opened_to_the_world(resource_type: str, facts: Facts) -> Iterator[tuple[str, range]]:
    """Yield who may come in from everywhere (`0.0.0.0/0` or `::/0`), and to which TCP ports.

    A rule from a security group, such as that by which the nodes of EFA reach one another over
    every protocol, is no part of it. A value that is not known yet is said by the rule that asks.
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
