"""Where nodes launch, according to the account."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from trainyard.components.account.facts import AccountFacts
from trainyard.components.capacity.reservations import reservation_zone
from trainyard.components.config.base import same_kind_of_zone
from trainyard.components.config.network import ExistingVpc, NewVpc
from trainyard.components.config.node_pool import NodePool, Pool
from trainyard.components.config.stack import StackConfig
from trainyard.components.network.facts import SubnetFacts

_NodePool = TypeVar("_NodePool", bound=NodePool)


@dataclass(frozen=True, slots=True)
class LaunchPlace:
    """A subnet of an existing VPC, or a zone of a new one."""

    subnet_id: str | None
    availability_zone: str | None
    """In the spelling of the network; None with a subnet."""


def place_of(pool: Pool, config: StackConfig, facts: AccountFacts) -> LaunchPlace | None:
    """Return the place of a pool with a known zone and without a subnet, else None.

    The zone of a reservation has priority over that of the pool: only `contradicted_zone` reports a
    conflict.
    """
    zone = pool_zone(pool, config, facts)
    if pool.subnet_ids or zone is None:
        return None
    if isinstance(config.network, NewVpc):
        if facts.zone(zone) is None:
            return None
        return LaunchPlace(None, spelled(zone, config.network, facts))
    # The first in the order of the stack file, because a choice by free addresses would change.
    subnet = next((s for s in private_subnets(config, facts) if in_zone(s, zone)), None)
    return LaunchPlace(subnet.subnet_id, None) if subnet is not None else None


def placed(
    named: Mapping[str, _NodePool], config: StackConfig, facts: AccountFacts
) -> dict[str, _NodePool]:
    """Return the node pools, with the subnet of each pool that launches in one zone."""
    found = dict(named)
    for pool in config.pools():
        place = place_of(pool, config, facts)
        if place is not None:
            update = {"subnet_id": place.subnet_id, "availability_zone": place.availability_zone}
            found[pool.name] = found[pool.name].model_copy(update=update)
    return found


def spelled(zone: str, network: NewVpc, facts: AccountFacts) -> str:
    """Return a zone in the spelling of the network (name or id), if the network has it."""
    wanted = facts.zone(zone)
    listed = (z for z in network.availability_zones if wanted and facts.zone(z) == wanted)
    return next(listed, zone)


def pool_zone(pool: Pool, config: StackConfig, facts: AccountFacts) -> str | None:
    """Return the zone (name or zone id) that a pool must launch in, or None for any."""
    reservation = config.reservations.get(pool.purchase_option)
    return reservation_zone(reservation, facts) or pool.availability_zone


def contradicted_zone(pool: Pool, config: StackConfig, facts: AccountFacts) -> str | None:
    """Return the zone of a pool's reservation if the pool sets another one, else None.

    A name and an id do not conflict if it is unknown whether they are the same zone.
    """
    asked = pool.availability_zone
    reserved = reservation_zone(config.reservations.get(pool.purchase_option), facts)
    if asked is None or reserved is None:
        return None
    spellings = _spellings(reserved, facts)
    if asked in spellings:
        return None
    return reserved if any(same_kind_of_zone(asked, zone) for zone in spellings) else None


def _spellings(zone: str, facts: AccountFacts) -> frozenset[str]:
    """Return the name and the id of a zone, as far as they are known."""
    told = (
        *((found.name, found.zone_id) for found in facts.zones),
        *((s.availability_zone, s.zone_id) for s in facts.subnets.values()),
        *((r.availability_zone, r.zone_id) for r in facts.reservations.values()),
    )
    return frozenset({zone}.union(*(names for names in told if zone in names)))


def zone_without_subnet(pool: Pool, config: StackConfig, facts: AccountFacts) -> str | None:
    """Return the zone of a pool if the existing VPC has no private subnet in it.

    None if the pool sets its subnets, if there is a subnet, or if the subnets were not read.
    """
    zone, subnets = pool_zone(pool, config, facts), private_subnets(config, facts)
    if pool.subnet_ids or zone is None or not subnets:
        return None
    return None if any(in_zone(subnet, zone) for subnet in subnets) else zone


def pools_without_subnet(config: StackConfig, facts: AccountFacts) -> frozenset[str]:
    """Return the `launch_key` of each pool in whose zone the existing VPC has no private subnet."""
    return frozenset(
        pool.launch_key for pool in config.pools() if zone_without_subnet(pool, config, facts)
    )


def offered_zones(config: StackConfig, facts: AccountFacts) -> dict[str, tuple[str, ...]]:
    """Return the zones of a new VPC that offer an instance type, by type."""
    if not isinstance(config.network, NewVpc) or not facts.zones:
        return {}
    zones = {zone: facts.zone(zone) for zone in config.network.availability_zones}
    return {
        instance_type: tuple(
            zone for zone, found in zones.items() if found and found.zone_id in offered
        )
        for instance_type, offered in facts.offered_zone_ids.items()
    }


def private_subnets(config: StackConfig, facts: AccountFacts) -> list[SubnetFacts]:
    """Return the existing private subnets, in the order of the stack file."""
    return _existing(config, facts, public=False)


def public_subnets(config: StackConfig, facts: AccountFacts) -> list[SubnetFacts]:
    """Return the existing public subnets, in the order of the stack file."""
    return _existing(config, facts, public=True)


def _existing(config: StackConfig, facts: AccountFacts, *, public: bool) -> list[SubnetFacts]:
    network = config.network
    if not isinstance(network, ExistingVpc):
        return []
    ids = network.public_subnet_ids if public else network.private_subnet_ids
    return [facts.subnets[i] for i in ids if i in facts.subnets]


def in_zone(subnet: SubnetFacts, zone: str) -> bool:
    """Return whether the subnet is in the zone, given by name or zone id."""
    return zone in {subnet.availability_zone, subnet.zone_id}
