"""Where a new stack is: an existing VPC with its subnets, or the zones of a new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trainyard.components.account.listing import AccountListing
from trainyard.components.config.base import is_zone_id
from trainyard.components.eks.cluster_review import MINIMUM_CONTROL_PLANE_ZONES, ZONES_WITHOUT_EKS
from trainyard.init import offers
from trainyard.init.account_conflicts import vpc_of_options
from trainyard.init.design import NEW_VPC, Kind, NetworkDesign, PoolDesign, Request
from trainyard.init.examples import Example
from trainyard.init.question import Ask, Choice, Question

_COMMON_TYPE = "m5.8xlarge"
"""A type that almost every zone offers: the head node of the Slurm examples."""


def resolve_network(
    request: Request,
    kind: Kind,
    listing: AccountListing,
    ask: Ask,
    example: Example | None,
    pools: Sequence[PoolDesign],
) -> tuple[NetworkDesign, list[PoolDesign]]:
    """Return the network, and the pools with the zones of their On-Demand nodes."""
    vpc_id = vpc_of_options(request, listing)
    if kind == "network":
        vpc_id = NEW_VPC
    if not vpc_id:
        vpc_id = _asked_vpc(kind, listing, ask, example, pools)
    if vpc_id is None:
        return NetworkDesign(kind="existing-vpc"), list(pools)
    if vpc_id == NEW_VPC:
        zones = new_zones(listing, kind, pools, least=_least_zones(kind, example))
        # As in the examples, whose nodes are in the last zone.
        placed = [_placed(pool, zones[::-1], listing, kind) for pool in pools]
        return NetworkDesign(kind="new-vpc", zones=tuple(zones)), placed
    return _in_vpc(request, kind, listing, ask, vpc_id, pools)


def _asked_vpc(
    kind: Kind,
    listing: AccountListing,
    ask: Ask,
    example: Example | None,
    pools: Sequence[PoolDesign],
) -> str | None:
    usable = offers.usable_vpcs(listing, kind, pools)
    choices = [Choice(vpc_id, _described_vpc(vpc_id, listing)) for vpc_id in usable]
    choices.append(Choice(NEW_VPC, "a VPC that the stack creates and deletes"))
    default = None
    if example is not None and example.network == "new-vpc":
        default = (NEW_VPC,)
    elif len(usable) <= 1:
        default = (choices[0].value,)
    question = Question(
        option="--vpc",
        text="Which VPC is it in?",
        choices=choices,
        default=default,
        suggested=(choices[0].value,),
    )
    answer = ask(question)
    return answer[0] if answer else None


def _described_vpc(vpc_id: str, listing: AccountListing) -> str:
    private = offers.subnets_of(listing, vpc_id, public=False)
    public = offers.subnets_of(listing, vpc_id, public=True)
    zones = sorted({subnet.availability_zone for subnet in private})
    name = listing.names.get(vpc_id, "")
    return (
        f"{f'{name}: ' if name else ''}{len(private)} private subnets in {', '.join(zones)}, "
        f"{len(public)} public"
    )


def _in_vpc(
    request: Request,
    kind: Kind,
    listing: AccountListing,
    ask: Ask,
    vpc_id: str,
    pools: Sequence[PoolDesign],
) -> tuple[NetworkDesign, list[PoolDesign]]:
    chosen = request.subnets or _asked_subnets(kind, listing, ask, vpc_id, pools)
    known = [listing.subnets[subnet_id] for subnet_id in chosen]
    public = [each for each in known if each.default_route == "internet-gateway"]
    private = [each for each in known if each.default_route != "internet-gateway"]
    network = NetworkDesign(
        kind="existing-vpc",
        vpc_id=vpc_id,
        public_subnet_ids=tuple(each.subnet_id for each in public),
        private_subnet_ids=tuple(each.subnet_id for each in private),
    )
    zones = list(dict.fromkeys(each.availability_zone for each in private))
    return network, [_placed(pool, zones, listing, kind) for pool in pools]


def _asked_subnets(
    kind: Kind, listing: AccountListing, ask: Ask, vpc_id: str, pools: Sequence[PoolDesign]
) -> tuple[str, ...]:
    """Return the subnets: by default, those with most addresses in as few zones as needed.

    Only subnets are offered in which nodes of this stack can be: those in the zones of the pools,
    and in the other zones that the stack can use.
    """
    least = max((pool.nodes for pool in pools), default=1)
    private = offers.subnets_of(listing, vpc_id, public=False, least_addresses=least)
    public = offers.subnets_of(listing, vpc_id, public=True)
    usable = set(offers.usable_zones(listing, kind))
    offered = [each for each in (*private, *public) if each.availability_zone in usable]
    zones = _needed_zones(
        listing, kind, pools, [*dict.fromkeys(each.availability_zone for each in private)]
    )
    default = [
        next(each.subnet_id for each in kinds if each.availability_zone == zone)
        for kinds in (private, public)
        for zone in sorted(zones)
        if any(each.availability_zone == zone for each in kinds)
    ]
    choices = [
        Choice(
            each.subnet_id,
            f"{'public' if each.default_route == 'internet-gateway' else 'private'}, "
            f"{each.availability_zone}, {each.free_addresses} addresses free"
            + (f", {name}" if (name := listing.names.get(each.subnet_id)) else ""),
        )
        for each in offered
    ]
    question = Question(
        option="--subnet",
        text="Which subnets does it use?",
        choices=choices,
        default=tuple(default),
        several=True,
        fault=lambda ids: _subnet_fault(ids, kind, listing, pools),
    )
    return ask(question) or tuple(default)


def _subnet_fault(
    ids: Sequence[str], kind: Kind, listing: AccountListing, pools: Sequence[PoolDesign]
) -> str | None:
    known = [listing.subnets[subnet_id] for subnet_id in ids]
    every = {each.availability_zone for each in known}
    private = {e.availability_zone for e in known if e.default_route != "internet-gateway"}
    faults = offers.pool_faults(listing, private, pools, kind=kind)
    if kind == "eks" and len(every) < MINIMUM_CONTROL_PLANE_ZONES:
        faults.append(f"EKS needs subnets in {MINIMUM_CONTROL_PLANE_ZONES} zones")
    if not private:
        faults.append("nodes need a private subnet")
    return "; ".join(faults) or None


def _needed_zones(
    listing: AccountListing, kind: Kind, pools: Sequence[PoolDesign], available: Sequence[str]
) -> list[str]:
    """Return the zones of the pools, and further ones until there are enough for the stack."""
    reserved = [pool.reserved for pool in pools if pool.reserved is not None]
    zones = [each.zone for each in reserved if each.zone]
    for pool in pools:
        if pool.reserved is None:
            offering = offers.offering_zones(listing, pool.instance_type, kind)
            fitting = [zone for zone in offering if zone in available]
            zones += [] if set(zones) & set(fitting) else fitting[:1]
    wanted = MINIMUM_CONTROL_PLANE_ZONES if kind == "eks" else 1
    usable = set(offers.usable_zones(listing, kind))
    for zone in available:
        if len(set(zones)) < wanted and zone in usable:
            zones.append(zone)
    return list(dict.fromkeys(zones))


def new_zones(
    listing: AccountListing, kind: Kind, pools: Sequence[PoolDesign], *, least: int
) -> list[str]:
    """Return the zones of a new VPC: those of the pools, and as many as the stack needs."""
    available = offers.usable_zones(listing, kind)
    zones = _needed_zones(listing, kind, pools, available)
    for zone in available:
        if len(zones) < least and zone not in zones:
            zones.append(zone)
    return sorted(zones)


def _least_zones(kind: Kind, example: Example | None) -> int:
    if kind == "network":
        return len(example.zones) if example is not None else MINIMUM_CONTROL_PLANE_ZONES
    return MINIMUM_CONTROL_PLANE_ZONES if kind == "eks" else 1


def _placed(
    pool: PoolDesign, zones: Sequence[str], listing: AccountListing, kind: Kind
) -> PoolDesign:
    """Return a pool with the zone of its On-Demand nodes, one that offers their type."""
    if pool.reserved is not None:
        return pool
    offering = offers.offering_zones(listing, pool.instance_type, kind)
    zone = next((zone for zone in zones if zone in offering), None)
    return replace(pool, zone=zone)


def network_without_account(
    request: Request, base: Example, pools: list[PoolDesign], wanted: str
) -> NetworkDesign:
    """Return the network of a stack whose account was not read, and place its On-Demand pools.

    Zones are those of the example in its own region. In another region, they are those in which the
    catalog knows the instance type, by id.
    """
    is_new = wanted == "new-vpc"
    zones = list(base.zones) if is_new and request.region == base.region else []
    for at, pool in enumerate(pools):
        if pool.reserved is not None:
            continue
        known = offers.catalog_zones(request.region, pool.instance_type)
        fitting = [zone for zone in zones if zone in known or not is_zone_id(zone)]
        zone = fitting[-1] if fitting else next(iter(known), None)
        if zone is not None and zone not in zones:
            zones.append(zone)
        pools[at] = replace(pool, zone=zone)
    if not is_new:
        return NetworkDesign(kind="existing-vpc", vpc_id=request.vpc or None)
    least = max(len(base.zones), MINIMUM_CONTROL_PLANE_ZONES if base.kind == "eks" else 1)
    for zone in offers.catalog_zones(request.region, _COMMON_TYPE):
        if len(zones) < least and zone not in (*zones, *ZONES_WITHOUT_EKS):
            zones.append(zone)
    return NetworkDesign(kind="new-vpc", zones=tuple(zones) or None)
