"""Where the nodes of a pool launch, as far as the account decides it."""

from __future__ import annotations

from dataclasses import dataclass

from components.account.facts import AccountFacts, SubnetFacts
from components.account.reservations import reservation_zone
from components.config.network import ExistingVpc, NewVpc
from components.config.pools import Pool
from components.config.stack import StackConfig


@dataclass(frozen=True, slots=True)
class Place:
    """One zone: the subnet in it of a VPC that exists, or the zone of one to be made."""

    subnet_id: str | None
    availability_zone: str | None
    """As the network spells it; None beside a subnet."""


def place_of(pool: Pool, config: StackConfig, facts: AccountFacts) -> Place | None:
    """Return where a pool launches whose zone is known and whose subnet is not, else None."""
    zone = pool_zone(pool, config, facts)
    if pool.subnet_ids or zone is None:
        return None
    if isinstance(config.network, NewVpc):
        return _in_new_vpc(pool, zone, config.network, facts)
    # The first in the order of the stack file: free addresses change, the choice must not.
    subnet = next((s for s in private_subnets(config, facts) if in_zone(s, zone)), None)
    return Place(subnet.subnet_id, None) if subnet is not None else None


def _in_new_vpc(pool: Pool, zone: str, network: NewVpc, facts: AccountFacts) -> Place | None:
    wanted = facts.zone(zone)
    asked = facts.zone(pool.availability_zone) if pool.availability_zone else None
    if wanted is None or asked not in (None, wanted):
        return None
    return Place(None, spelled(zone, network, facts))


def spelled(zone: str, network: NewVpc, facts: AccountFacts) -> str:
    """Return a zone as the network spells it, by name or by id, where it lists the zone."""
    wanted = facts.zone(zone)
    listed = (z for z in network.availability_zones if wanted and facts.zone(z) == wanted)
    return next(listed, zone)


def pool_zone(pool: Pool, config: StackConfig, facts: AccountFacts) -> str | None:
    """Return the zone (name or zone id) that a pool must launch in, or None for any."""
    reservation = config.reservations.get(pool.purchase_option)
    return reservation_zone(reservation, facts) or pool.availability_zone


def zone_without_subnet(pool: Pool, config: StackConfig, facts: AccountFacts) -> str | None:
    """Return the zone that a pool must launch in where no private subnet of an adopted VPC is.

    None where the pool names its subnets, where there is one, and where nobody could look.
    """
    zone, subnets = pool_zone(pool, config, facts), private_subnets(config, facts)
    if pool.subnet_ids or zone is None or not subnets:
        return None
    return None if any(in_zone(subnet, zone) for subnet in subnets) else zone


def private_subnets(config: StackConfig, facts: AccountFacts) -> list[SubnetFacts]:
    """Return the private subnets of the stack file that exist, in its order."""
    return _existing(config, facts, public=False)


def public_subnets(config: StackConfig, facts: AccountFacts) -> list[SubnetFacts]:
    """Return the public subnets of the stack file that exist, in its order."""
    return _existing(config, facts, public=True)


def _existing(config: StackConfig, facts: AccountFacts, *, public: bool) -> list[SubnetFacts]:
    network = config.network
    if not isinstance(network, ExistingVpc):
        return []
    ids = network.public_subnet_ids if public else network.private_subnet_ids
    return [facts.subnets[i] for i in ids if i in facts.subnets]


def in_zone(subnet: SubnetFacts, zone: str) -> bool:
    """Return whether the subnet lies in the zone, given by name or by zone id."""
    return zone in {subnet.availability_zone, subnet.zone_id}
