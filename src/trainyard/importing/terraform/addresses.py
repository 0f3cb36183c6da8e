"""Functions of the Terraform language about networks in CIDR notation.

https://developer.hashicorp.com/terraform/language/functions/cidrsubnet
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from typing import Any


def _cidrsubnet(prefix: str, bits: int, number: int) -> str:
    network = ipaddress.ip_network(prefix, strict=False)
    length = _length(network, bits)
    size = 1 << (network.max_prefixlen - length)
    first = network.network_address + int(number) * size
    found = ipaddress.ip_network((int(first), length))
    if not 0 <= number < 1 << int(bits):
        raise ValueError(number)
    return str(found)


def _cidrsubnets(prefix: str, *bits: int) -> list[str]:
    network = ipaddress.ip_network(prefix, strict=False)
    at, found = int(network.network_address), []
    for each in bits:
        length = _length(network, each)
        size = 1 << (network.max_prefixlen - length)
        at = -(-at // size) * size
        found.append(str(ipaddress.ip_network((at, length))))
        at += size
    return found


def _length(network: ipaddress.IPv4Network | ipaddress.IPv6Network, bits: int) -> int:
    """Return the length of the prefix of a part of a network."""
    length = network.prefixlen + int(bits)
    if not network.prefixlen <= length <= network.max_prefixlen:
        raise ValueError(bits)
    return length


OF_ADDRESSES: Mapping[str, Callable[..., Any]] = {
    "cidrsubnet": _cidrsubnet,
    "cidrsubnets": _cidrsubnets,
    "cidrhost": lambda prefix, number: str(ipaddress.ip_network(prefix)[number]),
}
"""Functions of values that must be known."""
