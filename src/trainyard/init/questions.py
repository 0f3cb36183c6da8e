"""Questions that complete the options of `init`: nodes and network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from trainyard.components.capacity.facts import ReservationFacts
from trainyard.components.config.base import is_zone_id
from trainyard.components.eks.cluster_review import MINIMUM_CONTROL_PLANE_ZONES, ZONES_WITHOUT_EKS
from trainyard.init import offers
from trainyard.init.account_listing import AccountListing
from trainyard.init.capacity import ON_DEMAND_NODES, pools_of_options, reserved_pool
from trainyard.init.conflicts import vpc_of_options
from trainyard.init.design import (
    KINDS,
    NEW_VPC,
    InitRequest,
    Kind,
    NetworkDesign,
    PoolDesign,
    ReservedNodes,
)
from trainyard.init.examples import Example, ExamplePool, fitting_example
from trainyard.init.question import Ask, Choice, Question

ON_DEMAND = "on-demand"


@dataclass(slots=True)
class CapacityQuestions:
    """Completes the node pools of a stack."""

    request: InitRequest
    kind: Kind
    listing: AccountListing | None
    now: datetime
    ask: Ask

    def pools(self, example: Example | None) -> list[PoolDesign]:
        """Return the node pools, in the order of the options."""
        if self.listing is None:
            return self._without_account(example)
        given = pools_of_options(self.request, self.listing)
        if given:
            kept = self._kept(example, given)
            return [*self._sized(given), *kept]
        if example is not None:
            return self._of_example(example, self.listing)
        return self._sized(self._chosen(self.listing))

    def _without_account(self, example: Example | None) -> list[PoolDesign]:
        if example is not None:
            return self._example_pools(example)
        types = self.request.instance_types
        if not types and not self.request.reservations:
            types = self._chosen_types()
        return [
            PoolDesign(instance_type=each, nodes=self.request.nodes_at(index) or ON_DEMAND_NODES)
            for index, each in enumerate(types)
        ]

    def _example_pools(self, example: Example) -> list[PoolDesign]:
        """Return the pools of an example; reservations and types are given in its order."""
        ids, types = list(self.request.reservations), list(self.request.instance_types)
        count = max(len(ids), len(types))
        reserved = next((each for each in example.pools if each.purchase != ON_DEMAND), None)
        templates = list(example.pools)
        while len(templates) < count:
            templates.append(reserved or templates[0])
        pools: list[PoolDesign] = []
        for template in templates:
            kept = template in example.pools and not any(
                each.example_pool == template.name for each in pools
            )
            pool = self._example_pool(template, len(pools), kept=kept)
            if pool.reserved is not None and ids:
                pool = replace(pool, reserved=replace(pool.reserved, reservation_id=ids.pop(0)))
            pools.append(replace(pool, instance_type=types.pop(0)) if types else pool)
        return pools

    def _example_pool(self, template: ExamplePool, index: int | None, *, kept: bool) -> PoolDesign:
        asked = None if index is None else self.request.nodes_at(index)
        nodes = asked or template.nodes
        reserved = None
        if template.purchase != ON_DEMAND:
            reserved = ReservedNodes(
                kind=template.purchase, reservation_id=None, instance_count=nodes
            )
        return PoolDesign(
            instance_type=template.instance_type,
            nodes=nodes,
            reserved=reserved,
            example_pool=template.name if kept else "",
        )

    def _kept(self, example: Example | None, given: Sequence[PoolDesign]) -> list[PoolDesign]:
        """Return the On-Demand pools of an example in which only reservations were replaced."""
        if example is None or not any(pool.purchase != ON_DEMAND for pool in example.pools):
            return []
        if any(pool.reserved is None for pool in given):
            return []
        return [
            self._example_pool(each, None, kept=True)
            for each in example.pools
            if each.purchase == ON_DEMAND
        ]

    def _of_example(self, example: Example, listing: AccountListing) -> list[PoolDesign]:
        """Return the pools of an example, with reservations of the account."""
        pools: list[PoolDesign] = []
        taken: set[str] = set()
        for template in example.pools:
            pool = self._example_pool(template, len(pools), kept=True)
            if template.purchase != ON_DEMAND:
                found = self._chosen_reservation(template, listing, taken, pool.nodes)
                if found is not None:
                    taken.add(found.reservation_id)
                    held = found.known_count
                    nodes = pool.nodes if held is None else min(pool.nodes, held)
                    pool = replace(reserved_pool(found, listing, nodes), example_pool=template.name)
            pools.append(pool)
        return pools

    def _chosen_reservation(
        self, template: ExamplePool, listing: AccountListing, taken: set[str], nodes: int
    ) -> ReservationFacts | None:
        fitting = [
            each
            for each in offers.usable_reservations(listing, self.now)
            if (each.kind, each.instance_type) == (template.purchase, template.instance_type)
            and each.reservation_id not in taken
            and (not self.request.nodes or each.known_count is None or each.known_count >= nodes)
        ]
        question = Question(
            option="--reservation",
            text=f"Which reservation has the {template.instance_type} nodes?",
            choices=[_offered(each) for each in fitting],
            default=(fitting[0].reservation_id,) if len(fitting) == 1 else None,
        )
        if not fitting:
            return None  # the stack file leaves the id out
        answer = self.ask(question)
        return next((each for each in fitting if answer == (each.reservation_id,)), None)

    def _chosen(self, listing: AccountListing) -> list[PoolDesign]:
        usable = offers.usable_reservations(listing, self.now)
        on_demand = Choice(ON_DEMAND, "instances without a reservation", in_terminal_only=True)
        choices = [
            *map(_offered, usable),
            on_demand,
        ]
        question = Question(
            option="--reservation",
            text="Which capacity do the nodes use?",
            choices=choices,
            suggested=(choices[0].value,),
            several=True,
            otherwise="; or `--instance-type` for On-Demand nodes",
        )
        answer = self.ask(question) or ()
        pools = [
            reserved_pool(each, listing, None) for each in usable if each.reservation_id in answer
        ]
        if ON_DEMAND in answer:
            pools += [
                PoolDesign(instance_type=each, nodes=ON_DEMAND_NODES)
                for each in self._chosen_types()
            ]
        return pools

    def _chosen_types(self) -> tuple[str, ...]:
        names = offers.accelerated_types(self.request.region)
        if self.listing is not None:
            listing = self.listing
            zones = {name: offers.offering_zones(listing, name, self.kind) for name in names}
            names = [name for name in names if zones[name]]
        suggested = fitting_example(self.kind, [], network="").pools
        usual = suggested[0].instance_type if suggested else ""
        question = Question(
            option="--instance-type",
            text="Which instance types do the On-Demand nodes have?",
            choices=[Choice(name) for name in names],
            suggested=(usual,) if usual in names or not names else tuple(names[:1]),
            several=True,
        )
        return self.ask(question) or ()

    def _sized(self, pools: list[PoolDesign]) -> list[PoolDesign]:
        """Return the pools with the number of nodes that the user wants in each."""
        given = [self.request.nodes_at(index) for index in range(len(pools))]
        return [
            replace(pool, nodes=nodes or self._nodes(pool))
            for pool, nodes in zip(pools, given, strict=True)
        ]

    def _nodes(self, pool: PoolDesign) -> int:
        reserved = pool.reserved
        most = reserved.instance_count if reserved is not None else None
        of = f" of {reserved.reservation_id}" if reserved is not None else ""

        def fault(values: Sequence[str]) -> str | None:
            answer = values[0]
            if not (answer.isascii() and answer.isdecimal() and int(answer)):
                return "give a number from 1"
            return f"the reservation has {most}" if most and int(answer) > most else None

        question = Question(
            option="--nodes",
            text=f"How many {pool.instance_type} nodes{of}?" + (f" At most {most}" if most else ""),
            default=(str(pool.nodes),),
            fault=fault,
        )
        return int((self.ask(question) or (str(pool.nodes),))[0])


def _offered(found: ReservationFacts) -> Choice:
    """Return a reservation with what decides whether it fits."""
    kind = "Capacity Block" if found.kind == "capacity-block" else "ODCR"
    is_free = found.state == "active" and found.available_count is not None
    free = f"{found.available_count} free of " if is_free else ""
    times = f", starts {found.starts_at:%Y-%m-%d %H:%M} UTC" if _is_later(found) else ""
    if found.ends_at is not None:
        times += f", ends {found.ends_at:%Y-%m-%d %H:%M} UTC"
    held = "unknown number of" if found.known_count is None else found.known_count
    count = f"{free}{held} {found.instance_type}"
    return Choice(
        found.reservation_id, f"{kind}: {count}, {found.availability_zone}, {found.state}{times}"
    )


def _is_later(found: ReservationFacts) -> bool:
    return found.state == "scheduled" and found.starts_at is not None


_COMMON_TYPE = "m5.8xlarge"
"""A type that almost every zone offers: the head node of the Slurm examples."""


def resolve_network(
    request: InitRequest,
    kind: Kind,
    listing: AccountListing,
    ask: Ask,
    example: Example | None,
    pools: Sequence[PoolDesign],
) -> tuple[NetworkDesign, list[PoolDesign]]:
    """Return the network, and the pools with the zones of their On-Demand nodes."""
    vpc_id = vpc_of_options(request, listing)
    if not KINDS[kind].pools:
        vpc_id = NEW_VPC
    if not vpc_id:
        vpc_id = _chosen_vpc(kind, listing, ask, example, pools)
    if vpc_id is None:
        return NetworkDesign(kind="existing-vpc"), list(pools)
    if vpc_id == NEW_VPC:
        zones = new_zones(listing, kind, pools, least=_least_zones(kind, example))
        # As in the examples, whose nodes are in the last zone.
        placed = [_placed(pool, zones[::-1], listing, kind) for pool in pools]
        return NetworkDesign(kind="new-vpc", zones=tuple(zones)), placed
    return _in_vpc(request, kind, listing, ask, vpc_id, pools)


def _chosen_vpc(
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
    request: InitRequest,
    kind: Kind,
    listing: AccountListing,
    ask: Ask,
    vpc_id: str,
    pools: Sequence[PoolDesign],
) -> tuple[NetworkDesign, list[PoolDesign]]:
    chosen = request.subnets or _chosen_subnets(kind, listing, ask, vpc_id, pools)
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


def _chosen_subnets(
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
    faults += offers.control_plane_faults(every, kind)
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
    wanted = max(1, KINDS[kind].control_plane_zones)
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
    if not KINDS[kind].pools:
        return len(example.zones) if example is not None else MINIMUM_CONTROL_PLANE_ZONES
    return max(1, KINDS[kind].control_plane_zones)


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
    request: InitRequest, base: Example, pools: list[PoolDesign], wanted: str
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
    least = max(1, len(base.zones), KINDS[base.kind].control_plane_zones)
    for zone in offers.catalog_zones(request.region, _COMMON_TYPE):
        if len(zones) < least and zone not in (*zones, *ZONES_WITHOUT_EKS):
            zones.append(zone)
    return NetworkDesign(kind="new-vpc", zones=tuple(zones) or None)
