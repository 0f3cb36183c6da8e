"""Check of the IPv4 ranges of a new VPC.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html, also for the tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network

from trainyard.components.config.review import Review

_UNUSABLE = {
    IPv4Network("0.0.0.0/8"): "this network",
    IPv4Network("127.0.0.0/8"): "loopback",
    IPv4Network("169.254.0.0/16"): "link-local",
    IPv4Network("224.0.0.0/4"): "multicast",
    IPv4Network("240.0.0.0/4"): "reserved",
}
"""Ranges of which no host can have an address, by use.

https://www.iana.org/assignments/iana-ipv4-special-registry/iana-ipv4-special-registry.xhtml
"""
_PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
_BENCHMARK = IPv4Network("198.19.0.0/16")
_OTHER = IPv4Network("0.0.0.0/0")
_DOCKER = IPv4Network("172.17.0.0/16")
_NOT_WITHIN = {
    IPv4Network("10.0.0.0/15"): IPv4Network("10.0.0.0/16"),
    IPv4Network("172.16.0.0/12"): IPv4Network("172.31.0.0/16"),
}
"""A range of which nothing can be added to a VPC with a network of the other, larger one."""
_NOT_BESIDE: Mapping[IPv4Network, tuple[IPv4Network, ...]] = {
    **{own: (*(other for other in _PRIVATE if other != own), _BENCHMARK) for own in _PRIVATE},
    _BENCHMARK: _PRIVATE,
    _OTHER: (*_PRIVATE, _BENCHMARK),
}
"""Ranges that cannot be added to a VPC, by the range of a network that it has: "IPv4 CIDR block
association restrictions". `_OTHER` means publicly routable networks and 100.64.0.0/10."""


def review_ranges(blocks: Sequence[tuple[str, str]], review: Review) -> None:
    """Record the networks of a VPC that EC2 refuses, alone or with the first one.

    Args:
        blocks: Key in the stack file and network, the primary one first.
        review: Gets the problems.
    """
    networks = [(key, IPv4Network(cidr)) for key, cidr in blocks]
    for key, network in networks:
        _review_alone(key, network, review)
    if not networks:
        return
    primary = networks[0][1]
    for key, network in networks[1:]:
        if any(network.subnet_of(other) for other in _excluded(primary)):
            review.refuse(
                key,
                f"is a network that EC2 does not add to a VPC with {primary}",
                found=str(network),
                allowed=f"a network of {_allowed(primary)}",
                remedy="give a network of the same private range, or of 100.64.0.0/10",
            )


def _review_alone(key: str, network: IPv4Network, review: Review) -> None:
    for unusable, use in _UNUSABLE.items():
        if network.overlaps(unusable):
            review.refuse(
                key,
                f"overlaps {unusable} ({use}), from which no instance can have an address",
                found=str(network),
                allowed="a private network, such as 10.0.0.0/16",
                remedy=review.set_command(key, "10.0.0.0/16"),
            )
    if network.overlaps(_DOCKER):
        review.note(
            f"network: {network} overlaps {_DOCKER}, which Docker and some AWS services use on "
            "instances; containers there do not reach these addresses"
        )


def _excluded(primary: IPv4Network) -> list[IPv4Network]:
    same = [part for whole, part in _NOT_WITHIN.items() if primary.subnet_of(whole)]
    return [*_NOT_BESIDE[_range(primary)], *same]


def _range(network: IPv4Network) -> IPv4Network:
    return next((own for own in (*_PRIVATE, _BENCHMARK) if network.subnet_of(own)), _OTHER)


def _allowed(primary: IPv4Network) -> str:
    own = _range(primary)
    same = [str(part) for whole, part in _NOT_WITHIN.items() if primary.subnet_of(whole)]
    but = f" outside of {same[0]}" if same else ""
    return "100.64.0.0/10" if own == _OTHER else f"{own}{but}, or of 100.64.0.0/10"
