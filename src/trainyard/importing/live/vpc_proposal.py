"""The section `network` of a stack file that adopts a VPC of the account, or why there is none.

A stack has one private subnet in each zone, with a public one or without. Which subnets become
those of the stack follows from the subnets of the cluster; others stay outside.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from pydantic import TypeAdapter

from trainyard.components.account.vpc_layout import VpcLayout
from trainyard.components.checks.adopted_vpc_check import differences
from trainyard.components.config.adopted_vpc import GatewayService
from trainyard.components.config.network import NewVpc
from trainyard.components.config.problems import Problem
from trainyard.components.config.review import Review
from trainyard.components.network.vpc_review import review_new_vpc

_GATEWAY_SERVICES = get_args(GatewayService)


class NotDescribableError(Exception):
    """The keys of a network do not describe the VPC; the message says what differs."""


def proposal(
    found: VpcLayout, *, private: Sequence[str], public: Sequence[str], region: str
) -> dict[str, Any]:
    """Return the section that adopts a VPC.

    Args:
        found: The VPC.
        private: Private subnets of the cluster.
        public: Its public subnets. If empty, those of the zones of the private ones.
        region: Region of the stack.

    Raises:
        NotDescribableError: a stack cannot have such a VPC.
    """
    private_of = _by_zone(found, private, "private")
    public_of = _by_zone(found, public or _public_subnets(found, private_of), "public")
    if public_of and public_of.keys() != private_of.keys():
        lacking = public_of.keys() ^ private_of.keys()
        raise NotDescribableError(
            f"{', '.join(sorted(lacking))} has only one of a public and a private subnet"
        )
    nat_of = _nat_gateways(found, private_of, public_of)
    # A stack has its single NAT gateway in the first zone.
    zones = sorted(private_of, key=lambda zone: (zone not in nat_of, zone))
    section = _section(found, zones, private_of, public_of, nat_of)
    problems = [*_refused(section, found, region)]
    if problems:
        raise NotDescribableError(
            "; ".join(f"{each.path.rpartition('cluster.')[2]} {each.problem}" for each in problems)
        )
    return section


def _by_zone(found: VpcLayout, subnets: Iterable[str], kind: str) -> dict[str, str]:
    by_zone: dict[str, str] = {}
    for subnet in subnets:
        if subnet not in found.subnets:
            raise NotDescribableError(f"{subnet} is not in {found.vpc_id}")
        zone = found.subnets[subnet].zone
        if by_zone.setdefault(zone, subnet) != subnet:
            raise NotDescribableError(
                f"{zone} has two {kind} subnets, {by_zone[zone]} and {subnet}"
            )
    return by_zone


def _public_subnets(found: VpcLayout, zones: Iterable[str]) -> list[str]:
    return [
        identity
        for identity, subnet in found.subnets.items()
        if subnet.zone in set(zones)
        and _default_route(found, identity) in found.internet_gateway_ids
    ]


def _default_route(found: VpcLayout, subnet: str) -> str:
    table = found.tables.get(found.subnets[subnet].table_id)
    return table.default_route if table else ""


def _nat_gateways(
    found: VpcLayout, private_of: Mapping[str, str], public_of: Mapping[str, str]
) -> dict[str, str]:
    """Return the NAT gateways by their zones: none, one for all, or one in each zone."""
    targets = {zone: _default_route(found, subnet) for zone, subnet in private_of.items()}
    used = {target for target in targets.values() if target.startswith("nat-")}
    if not used:
        return {}
    zone_of = {
        nat: zone
        for nat in used & found.nat_gateways.keys()
        for zone, subnet in public_of.items()
        if found.nat_gateways[nat].subnet_id == subnet
    }
    one_for_all = len(used) == 1 and {*targets.values()} == used
    own = all(zone_of.get(target) == zone for zone, target in targets.items())
    if not (one_for_all or own) or used != zone_of.keys():
        raise NotDescribableError(
            "the private subnets have neither one NAT gateway for all of them, nor each one in the "
            "public subnet of its zone"
        )
    return {zone: nat for nat, zone in zone_of.items()}


def _section(
    found: VpcLayout,
    zones: Sequence[str],
    private_of: Mapping[str, str],
    public_of: Mapping[str, str],
    nat_of: Mapping[str, str],
) -> dict[str, Any]:
    tables = {found.subnets[each].table_id for each in (*private_of.values(), *public_of.values())}
    endpoints = {
        each.service: identity
        for identity, each in found.endpoints.items()
        if each.kind == "Gateway" and each.service in _GATEWAY_SERVICES and each.table_ids == tables
    }
    section: dict[str, Any] = {
        "kind": "new-vpc",
        "availability_zones": [*zones],
        "cidr": found.cidr,
        "private_subnet_cidrs": [found.subnets[private_of[zone]].cidr for zone in zones],
        "nat_gateways": _nat_key(nat_of, zones),
        "gateway_endpoints": [each for each in _GATEWAY_SERVICES if each in endpoints],
    }
    adopt: dict[str, Any] = {"vpc_id": found.vpc_id}
    if found.secondary:
        section["secondary_cidrs"] = [*found.secondary]
        adopt["cidr_association_ids"] = [*found.secondary.values()]
    if public_of:
        section["public_subnet_cidrs"] = [found.subnets[public_of[zone]].cidr for zone in zones]
        adopt["internet_gateway_id"] = next(iter(found.internet_gateway_ids), "")
        adopt["public_route_table_id"] = found.subnets[public_of[zones[0]]].table_id
    else:
        section["public_subnets"] = False
    if endpoints:
        adopt["gateway_endpoint_ids"] = endpoints
    adopt["zones"] = {
        zone: dict(_zone(found, zone, private_of, public_of, nat_of)) for zone in zones
    }
    return section | {"adopt": adopt}


def _nat_key(nat_of: Mapping[str, str], zones: Sequence[str]) -> str:
    if not nat_of:
        return "none"
    return "one-per-zone" if len(nat_of) == len(zones) > 1 else "single"


def _zone(
    found: VpcLayout,
    zone: str,
    private_of: Mapping[str, str],
    public_of: Mapping[str, str],
    nat_of: Mapping[str, str],
) -> Iterator[tuple[str, str]]:
    if zone in public_of:
        yield "public_subnet_id", public_of[zone]
    yield "private_subnet_id", private_of[zone]
    yield "private_route_table_id", found.subnets[private_of[zone]].table_id
    if zone in nat_of:
        yield "nat_gateway_id", nat_of[zone]
        yield "allocation_id", next(iter(found.nat_gateways[nat_of[zone]].allocation_ids), "")


def _refused(section: Mapping[str, Any], found: VpcLayout, region: str) -> Iterator[Problem]:
    """Yield what `check` and `check --live` would refuse."""
    missing = [zone for zone, ids in section["adopt"]["zones"].items() if not all(ids.values())]
    if missing or not all(section["adopt"].values()):
        raise NotDescribableError(
            f"{', '.join(missing) or 'the public subnets'}: a subnet uses the main route table, or "
            "a gateway has no public address"
        )
    network = TypeAdapter(NewVpc).validate_json(json.dumps(section))
    review = Review(stack_file="")
    review_new_vpc(network, region, review)
    yield from review.problems
    yield from differences(network, found, own="")
