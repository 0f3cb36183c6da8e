"""Checks of the addresses, zones and ids of a new, adopted or existing VPC."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network
from itertools import combinations
from typing import NamedTuple

from trainyard.components.capacity.pool_review import is_foreign_zone
from trainyard.components.config.network import AdoptedVpc, ExistingVpc, NewVpc, PlacedNetwork
from trainyard.components.config.problems import Review
from trainyard.components.config.stack import StackConfig
from trainyard.components.network.network_plan import (
    TEMPLATE_CIDR,
    AddressPlan,
    gives_all_addresses,
    most_zones,
    plan_addresses,
)

# Check of the IPv4 ranges of a new VPC.
#
# Source: https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html, also for the
# tables.


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


ADOPT = "network.adopt"


class _Id(NamedTuple):
    """An id that the stack file has or needs."""

    key: str
    given: str | None
    needed: bool
    because_of: str
    """Key of the network that says whether the VPC has the object."""


def review_adoption(network: NewVpc, review: Review) -> None:
    """Refuse ids of objects that the stack does not have, and objects without their ids.

    The component would create what has no id, next to the object that exists.
    """
    wanted = network.adopt
    if wanted is None:
        return
    _review_entries(network, wanted, review)
    for each in _ids(network, wanted):
        _review_id(each, review)
    _review_associations(network, wanted, review)
    _review_repeated(wanted, review)
    _review_zone_of_nat(network, wanted, review)
    _review_shared_tables(network, wanted, review)


def _review_entries(network: NewVpc, wanted: AdoptedVpc, review: Review) -> None:
    """Refuse zones and services that the network does not have."""
    for name, given, key, known in (
        ("zones", wanted.zones, "availability_zones", network.availability_zones),
        (
            "gateway_endpoint_ids",
            wanted.gateway_endpoint_ids,
            "gateway_endpoints",
            network.gateway_endpoints,
        ),
    ):
        for each in given:
            if each not in known:
                review.refuse(
                    f"{ADOPT}.{name}.{each}",
                    f"is not in network.{key}, so the stack has no such object",
                    found=each,
                    allowed=", ".join(known),
                    remedy=f"add it to network.{key}, or remove it here",
                )


def _ids(network: NewVpc, wanted: AdoptedVpc) -> Iterator[_Id]:
    public = network.public_subnets
    for name in ("internet_gateway_id", "public_route_table_id"):
        yield _Id(name, getattr(wanted, name), public, "public_subnets")
    zones = network.availability_zones
    natted = {"none": (), "single": zones[:1], "one-per-zone": zones}[network.nat_gateways]
    for zone, ids in wanted.zones.items():
        key = f"zones.{zone}."
        yield _Id(f"{key}public_subnet_id", ids.public_subnet_id, public, "public_subnets")
        yield _Id(f"{key}nat_gateway_id", ids.nat_gateway_id, zone in natted, "nat_gateways")
        yield _Id(f"{key}allocation_id", ids.allocation_id, zone in natted, "nat_gateways")


def _review_id(found: _Id, review: Review) -> None:
    key = f"{ADOPT}.{found.key}"
    if found.needed and found.given is None:
        review.refuse(
            key,
            "is missing: the stack would create another object, next to the one that exists",
            remedy=(
                f"{review.example_of(key, 'ID')}, or change network.{found.because_of}, which says "
                "that the VPC has one"
            ),
        )
    elif found.given is not None and not found.needed:
        review.refuse(
            key,
            f"is an object that a VPC with this `{found.because_of}` does not have here",
            found=found.given,
            remedy=f"{review.remove_command(key)}, or change network.{found.because_of}",
        )


def _review_associations(network: NewVpc, wanted: AdoptedVpc, review: Review) -> None:
    blocks, given = plan_addresses(network).secondary_cidrs, wanted.cidr_association_ids
    if len(blocks) != len(given):
        review.refuse(
            f"{ADOPT}.cidr_association_ids",
            "does not have one id for each secondary CIDR block of the network",
            found=f"{len(given)} for {', '.join(blocks) or 'none'}",
            allowed=f"{len(blocks)} ids, in the order of the CIDR blocks",
            remedy=(
                "list the associations that `aws ec2 describe-vpcs` shows as "
                "CidrBlockAssociationSet; associate a new block first, and add its id"
            ),
        )


def _review_repeated(wanted: AdoptedVpc, review: Review) -> None:
    ids = [
        identity
        for zone in wanted.zones.values()
        for identity in (
            zone.private_subnet_id,
            zone.public_subnet_id,
            zone.nat_gateway_id,
            zone.allocation_id,
        )
        if identity is not None
    ]
    for identity, count in Counter(ids).items():
        if count > 1:
            review.refuse(
                f"{ADOPT}.zones",
                "names an object twice",
                found=identity,
                remedy="set the id of a different object in each zone",
            )


def _review_zone_of_nat(network: NewVpc, wanted: AdoptedVpc, review: Review) -> None:
    """Refuse a new NAT gateway for subnets that have a route to an existing one."""
    first = network.availability_zones[0]
    if network.nat_gateways == "single" and first not in wanted.zones:
        review.refuse(
            "network.availability_zones",
            "begins with a new zone, where the stack would create the single NAT gateway",
            found=first,
            allowed="the zone of the NAT gateway of the adopted VPC first",
            remedy="add new zones at the end",
        )


def _review_shared_tables(network: NewVpc, wanted: AdoptedVpc, review: Review) -> None:
    tables = [zone.private_route_table_id for zone in wanted.zones.values()]
    if wanted.public_route_table_id in tables:
        review.refuse(
            f"{ADOPT}.public_route_table_id",
            "is also the route table of a private subnet, which would be public with it",
            found=wanted.public_route_table_id,
            remedy="set the route table of the public subnets",
        )
    if network.nat_gateways == "one-per-zone" and len({*tables}) < len(tables):
        review.refuse(
            "network.nat_gateways",
            "needs a route table for each private subnet, but some of them share one in `adopt`",
            found=network.nat_gateways,
            allowed="single, or none",
            remedy=review.set_command("network.nat_gateways", "single"),
        )


def review_existing_vpc(network: ExistingVpc, review: Review) -> None:
    """Refuse subnets that are listed twice; all other checks need the account."""
    both = [s for s in network.private_subnet_ids if s in network.public_subnet_ids]
    if both:
        review.refuse(
            "network.private_subnet_ids",
            "has subnets that are also listed as public; a subnet has only one default route",
            found=", ".join(both),
            remedy="remove each from one of the two lists",
            rules=("E3",),
        )
    for name in ("public_subnet_ids", "private_subnet_ids"):
        ids: tuple[str, ...] = getattr(network, name)
        repeated = sorted({s for s in ids if ids.count(s) > 1})
        if repeated:
            review.refuse(
                f"network.{name}",
                "lists a subnet twice",
                found=", ".join(repeated),
                remedy=review.remove_repeated(f"network.{name}", ids),
                rules=("E3",),
            )


# Checks of the addresses and zones of a new VPC, for all architectures.
#
# Source of the limits: https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html


LARGEST_PREFIX, SMALLEST_PREFIX = 16, 28
"""Prefix lengths that EC2 allows for the CIDR blocks of VPCs and subnets."""
MOST_SECONDARY_CIDRS = 4
"""The default quota of five CIDR blocks per VPC, without the primary one; adjustable."""


def review_new_vpc(network: NewVpc, region: str, review: Review) -> None:
    """Record every problem of the zones and addresses of a new VPC."""
    _review_zones(network, region, review)
    _review_ways_out(network, review)
    _review_lists(network, review)
    _review_template_cidr(network, review)
    addresses = plan_addresses(network)
    if _review_blocks(network, addresses, review):
        _review_subnets(network, addresses, review)
    review_adoption(network, review)


def _own_zones(zones: Sequence[str], region: str, review: Review) -> str:
    """Return the commands that name a zone of the region in the place of each of another one."""
    free = (zone for zone in (f"{region}{letter}" for letter in "abcdef") if zone not in zones)
    return " and ".join(
        review.set_command(f"network.availability_zones[{number}]", next(free))
        for number, zone in enumerate(zones)
        if is_foreign_zone(zone, region)
    )


def _review_zones(network: NewVpc, region: str, review: Review) -> None:
    zones, key = network.availability_zones, "network.availability_zones"
    repeated = sorted({zone for zone in zones if zones.count(zone) > 1})
    if repeated:
        review.refuse(
            key,
            "lists a zone twice",
            found=", ".join(repeated),
            remedy=review.remove_repeated(key, zones),
        )
    foreign = [zone for zone in zones if is_foreign_zone(zone, region)]
    if foreign:
        review.refuse(
            key,
            f"has zones that are not in the stack's region, {region}",
            found=", ".join(foreign),
            allowed=f"zones in {region}",
            remedy=f"{_own_zones(zones, region, review)}; or change `aws:region`",
        )
    most = most_zones(network)
    if most is not None and len(zones) > most:
        review.refuse(
            key,
            f"has more zones than the addresses of `{network.addresses}` support",
            found=len(zones),
            allowed=f"at most {most}, or `public_subnet_cidrs` and `private_subnet_cidrs` for each",
            remedy="set both lists, or use fewer zones",
        )


def _review_ways_out(network: NewVpc, review: Review) -> None:
    if network.public_subnets:
        return
    if network.nat_gateways != "none":
        review.refuse(
            "network.nat_gateways",
            "needs a public subnet, but `public_subnets` is false",
            found=network.nat_gateways,
            allowed="none, or `public_subnets: true`",
            remedy=(
                f"{review.set_command('network.nat_gateways', 'none')}, or "
                f"{review.set_command('network.public_subnets', 'true')}"
            ),
        )
    if network.public_subnet_cidrs:
        review.refuse(
            "network.public_subnet_cidrs",
            "sets addresses of public subnets, but `public_subnets` is false",
            found=", ".join(network.public_subnet_cidrs),
            allowed="no such key, or `public_subnets: true`",
            remedy=review.remove_command("network.public_subnet_cidrs"),
        )


def _review_lists(network: NewVpc, review: Review) -> None:
    zones = len(network.availability_zones)
    for name in ("public_subnet_cidrs", "private_subnet_cidrs"):
        given: tuple[str, ...] = getattr(network, name)
        if given and len(given) != zones:
            review.refuse(
                f"network.{name}",
                "does not have one CIDR block for each of `availability_zones`",
                found=f"{len(given)} for {zones} zones",
                allowed=f"{zones} CIDR blocks, in the order of the zones",
                remedy="add or remove CIDR blocks, or remove the key to use those of `addresses`",
            )


def _review_template_cidr(network: NewVpc, review: Review) -> None:
    own = gives_all_addresses(network)
    if network.addresses == "eksctl" or own or network.cidr in (None, TEMPLATE_CIDR):
        return
    review.refuse(
        "network.cidr",
        f"is not the CIDR block of the template `{network.addresses}`, whose subnets are fixed",
        found=network.cidr,
        allowed=f"{TEMPLATE_CIDR}, or your own `public_subnet_cidrs` and `private_subnet_cidrs`",
        remedy=review.set_command("network.addresses", "eksctl"),
    )


def _review_blocks(network: NewVpc, addresses: AddressPlan, review: Review) -> bool:
    """Return whether the CIDR blocks of the VPC are valid enough to check the subnets."""
    sound = True
    blocks = [("network.cidr", addresses.cidr)]
    blocks += [
        (f"network.secondary_cidrs[{index}]", cidr)
        for index, cidr in enumerate(network.secondary_cidrs)
    ]
    for key, cidr in blocks:
        if not LARGEST_PREFIX <= IPv4Network(cidr).prefixlen <= SMALLEST_PREFIX:
            sound = False
            review.refuse(
                key,
                "is not a size that EC2 allows for a CIDR block of a VPC",
                found=cidr,
                allowed=f"/{LARGEST_PREFIX} to /{SMALLEST_PREFIX}",
                remedy=review.set_command(key, f"{IPv4Network(cidr).network_address}/16"),
            )
    review_ranges(blocks, review)
    for (_, one), (key, other) in combinations(blocks, 2):
        if IPv4Network(one).overlaps(IPv4Network(other)):
            review.refuse(
                key,
                f"overlaps another CIDR block of the VPC, {one}",
                found=other,
                remedy="remove it, or use a CIDR block that does not overlap",
            )
    if len(addresses.secondary_cidrs) > MOST_SECONDARY_CIDRS:
        review.refuse(
            "network.secondary_cidrs",
            "has more CIDR blocks than a VPC can have",
            found=len(addresses.secondary_cidrs),
            allowed=f"at most {MOST_SECONDARY_CIDRS} in addition to `cidr`",
            remedy="remove CIDR blocks, or use larger ones",
        )
    return sound


def _review_subnets(network: NewVpc, addresses: AddressPlan, review: Review) -> None:
    subnets = [
        *_keyed("public", network.public_subnet_cidrs, addresses.public),
        *_keyed("private", network.private_subnet_cidrs, addresses.private),
    ]
    blocks = [IPv4Network(cidr) for cidr in addresses.blocks]
    if not subnets:
        _refuse_small_vpc(addresses, review)
    for key, cidr in subnets:
        subnet = IPv4Network(cidr)
        if subnet.prefixlen > SMALLEST_PREFIX:
            _refuse_small_subnet(key, cidr, addresses, review)
        elif not any(subnet.subnet_of(block) for block in blocks):
            review.refuse(
                key,
                "is outside of the CIDR blocks of the VPC",
                found=cidr,
                allowed=f"within {', '.join(addresses.blocks)}",
                remedy=(
                    "change it, or add a CIDR block that contains it: "
                    + review.set_command(
                        f"network.secondary_cidrs[{len(addresses.blocks) - 1}]",
                        str(subnet.supernet(new_prefix=min(16, subnet.prefixlen))),
                    )
                ),
            )
    _review_overlaps(subnets, review)


def _keyed(kind: str, given: tuple[str, ...], planned: tuple[str, ...]) -> list[tuple[str, str]]:
    name = f"network.{kind}_subnet_cidrs"
    return [(f"{name}[{index}]" if given else name, cidr) for index, cidr in enumerate(planned)]


def _refuse_small_vpc(addresses: AddressPlan, review: Review) -> None:
    review.refuse(
        "network.cidr",
        "is too small: an eighth of it is less than the smallest subnet",
        found=addresses.cidr,
        allowed=f"/{LARGEST_PREFIX} to /{SMALLEST_PREFIX - 3}",
        remedy=review.set_command(
            "network.cidr", f"{IPv4Network(addresses.cidr).network_address}/{LARGEST_PREFIX}"
        ),
    )


def _refuse_small_subnet(key: str, cidr: str, addresses: AddressPlan, review: Review) -> None:
    if not key.endswith("]"):
        # From the plan, not the stack file, because the VPC is what the user can change.
        if not any(problem.path.endswith("network.cidr") for problem in review.problems):
            _refuse_small_vpc(addresses, review)
        return
    review.refuse(
        key,
        "is smaller than the smallest subnet that EC2 supports",
        found=cidr,
        allowed=f"/{LARGEST_PREFIX} to /{SMALLEST_PREFIX}",
        remedy="use a larger CIDR block",
    )


def _separate(key: str, cidr: str, every: Sequence[str], review: Review) -> str:
    """Return how to give a subnet a block of its own, of the same size and in the same network."""
    own = IPv4Network(cidr)
    taken = [IPv4Network(each) for each in every]
    blocks = own.supernet(new_prefix=min(16, own.prefixlen)).subnets(new_prefix=own.prefixlen)
    free = next((each for each in blocks if not any(map(each.overlaps, taken))), None)
    use = "use a separate CIDR block for each subnet"
    return f"{use}, such as: {review.set_command(key, str(free))}" if free else use


def _review_overlaps(subnets: list[tuple[str, str]], review: Review) -> None:
    met: set[str] = set()
    for (_, one), (key, other) in combinations(subnets, 2):
        if key not in met and IPv4Network(one).overlaps(IPv4Network(other)):
            met.add(key)
            review.refuse(
                key,
                f"overlaps another subnet, {one}",
                found=other,
                remedy=_separate(key, other, [cidr for _, cidr in subnets], review),
            )


def review_network(network: PlacedNetwork, region: str, review: Review) -> None:
    """Record problems of existing subnets, or of the addresses and zones of new ones."""
    if isinstance(network, NewVpc):
        review_new_vpc(network, region, review)
    else:
        review_existing_vpc(network, review)


def review_without_storage(
    config: StackConfig, review: Review, *, problem: str, remedy: str
) -> None:
    """Refuse file systems in a stack that does not support them, for the given reason."""
    for name in config.storage:
        review.refuse(
            f"storage.{name}",
            problem,
            found=config.storage[name].kind,
            allowed="no entry of `storage`",
            remedy=remedy,
            rules=("F9",),
        )
