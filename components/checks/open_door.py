"""Checks that security groups let nodes reach a file system."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network

from trainyard.components.account.facts import IngressFacts

OPEN_PORTS = ("ec2:DescribeNetworkInterfaces", "ec2:DescribeSecurityGroupRules")
"""Calls that show whether the security groups of a file system allow the nodes."""

Ports = tuple[int, int]
"""First and last TCP port."""


def described(ports: Ports) -> str:
    """Return a port or port range, for messages."""
    return str(ports[0]) if ports[0] == ports[1] else f"{ports[0]}-{ports[1]}"


def is_open(lets_in: Iterable[IngressFacts], ports: Ports, nodes: IPv4Network) -> bool:
    """Return whether the rules allow all ports from a network."""
    return any(_covers(rule, ports) and _names(rule, nodes) for rule in lets_in)


def _covers(rule: IngressFacts, ports: Ports) -> bool:
    if rule.protocol == "-1":
        return True
    return rule.protocol == "tcp" and rule.first_port <= ports[0] and ports[1] <= rule.last_port


def _names(rule: IngressFacts, nodes: IPv4Network) -> bool:
    # A referenced group may be that of the nodes, which is unknown before they exist.
    return rule.cidr is None or nodes.subnet_of(IPv4Network(rule.cidr))
