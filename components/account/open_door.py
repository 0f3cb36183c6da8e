"""Whether security groups let nodes reach a file system."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network

from components.account.facts import IngressFacts

Ports = tuple[int, int]
"""First and last TCP port."""


def described(ports: Ports) -> str:
    """Return a port or a range of ports for people."""
    return str(ports[0]) if ports[0] == ports[1] else f"{ports[0]}-{ports[1]}"


def is_open(lets_in: Iterable[IngressFacts], ports: Ports, nodes: IPv4Network) -> bool:
    """Return whether nodes of a network are let in on all of the ports."""
    return any(_covers(rule, ports) and _names(rule, nodes) for rule in lets_in)


def _covers(rule: IngressFacts, ports: Ports) -> bool:
    if rule.protocol == "-1":
        return True
    return rule.protocol == "tcp" and rule.first_port <= ports[0] and ports[1] <= rule.last_port


def _names(rule: IngressFacts, nodes: IPv4Network) -> bool:
    # Another group may be that of the nodes; nobody can tell before there are any.
    return rule.cidr is None or nodes.subnet_of(IPv4Network(rule.cidr))
