"""Checks of the ids of an adopted VPC against the other keys of the network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from trainyard.components.config.adopted_vpc import AdoptedVpc
from trainyard.components.config.network import NewVpc
from trainyard.components.config.review import Review
from trainyard.components.network.address_plan import plan_addresses

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
