"""Where the node pools of a stack launch: what their plans share, and checks of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic, TypeVar

from trainyard.components.capacity.plan import CapacityPlan
from trainyard.components.capacity.pool_review import (
    purchase_options,
    review_reserved_zone,
    review_zone_region,
)
from trainyard.components.capacity.purchase import plan_capacity
from trainyard.components.catalog.instance_types import InstanceType
from trainyard.components.config.base import is_zone_id, same_kind_of_zone
from trainyard.components.config.network import ExistingVpc, PlacedNetwork
from trainyard.components.config.problems import Review
from trainyard.components.config.reservations import Reservation
from trainyard.components.config.stack import StackConfig
from trainyard.components.network.network_plan import NetworkPlan


def candidate_zones(
    instance_type: InstanceType,
    network: PlacedNetwork,
    offered_zones: Mapping[str, tuple[str, ...]],
    *,
    subnet_key: str = "subnet_id",
) -> str:
    """Return, for messages, the zones that nodes of a single-zone pool could launch in.

    `offered_zones` are the zones of a new VPC that offer a type, if the account was queried. The
    catalog has only zone ids, not zone names, and can be outdated.
    """
    if isinstance(network, ExistingVpc):
        return f"one zone, or one of `network.private_subnet_ids` as `{subnet_key}`"
    zones = offered_zones.get(instance_type.name)
    if zones is None:
        listed = network.availability_zones
        zones = tuple(z for z in listed if not is_zone_id(z) or z in instance_type.zone_ids)
    return f"one zone: {', '.join(zones) or 'none of the VPC offers ' + instance_type.name}"


def refuse_missing_zone(key: str, allowed: str | None, review: Review) -> None:
    """Refuse a pool with EFA whose zone is not set.

    `key` is the pool's key in the stack file, `allowed` the result of `candidate_zones`.
    """
    review.refuse(
        f"{key}.availability_zone",
        (
            "is missing: EFA traffic cannot leave a zone, so all nodes must launch in the same "
            "zone, but the stack file sets none"
        ),
        allowed=allowed,
        remedy=review.set_command(f"{key}.availability_zone", "ZONE"),
        rules=("A6", "E12", "G2"),
    )


Config = TypeVar("Config", bound=StackConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanContext(Generic[Config]):
    """Values that the plans and reviews of all node pools of a stack share."""

    config: Config
    network: NetworkPlan
    region: str
    now: datetime
    """Timezone-aware."""
    subnets_known: bool = False
    """Whether the account was queried, so that unknown values stay unknown."""
    offered_zones: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Zones of a new VPC that offer an instance type, by type, if the account was queried."""
    without_subnet: frozenset[str] = frozenset()
    """Pools in whose zone an existing VPC has no private subnet, by `launch_key`.

    The account checks refuse them."""
    log_groups: Mapping[str, int] = field(default_factory=dict[str, int])
    """Log groups that the stack adopts: days to keep their events, by name; 0 is forever."""
    _places: dict[str, PoolPlace] = field(
        init=False, repr=False, compare=False, default_factory=dict[str, "PoolPlace"]
    )

    def place(self, key: str) -> PoolPlace:
        """Return where the pools with a `launch_key` launch, such as the resources of a queue.

        Raises:
            KeyError: the stack file has no pool there.
        """
        return self.places()[key]

    def capacity(self, purchase_option: str, place: PoolPlace) -> CapacityPlan:
        """Return the capacity plan of nodes that launch at a place."""
        capacity = plan_capacity(purchase_option, self.config.reservations)
        return replace(capacity, availability_zone=capacity.availability_zone or place.zone)

    def places(self) -> Mapping[str, PoolPlace]:
        """Return where all pools launch, by `launch_key`, in the order of the stack file."""
        if not self._places:
            self._places.update(self._found_places())
        return self._places

    def _found_places(self) -> dict[str, PoolPlace]:
        architecture = self.config.architecture
        found: dict[str, PoolPlace] = {}
        for pool in architecture.pools():
            known = found.get(pool.launch_key)
            reservation = self.config.reservations.get(pool.purchase_option)
            found[pool.launch_key] = PoolPlace(
                name=f"{architecture.PLACE_NOUN} {pool.launch_key.rpartition('.')[2]}",
                key=pool.subnet_key.rpartition(".")[0],
                launch_key=pool.launch_key,
                availability_zone=pool.availability_zone,
                subnet_ids=pool.subnet_ids,
                subnet_key=pool.subnet_key,
                reservations={
                    **(known.reservations if known else {}),
                    **({pool.purchase_option: reservation} if reservation else {}),
                },
                network=self.network,
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPlace:
    """The settings that decide where the nodes of one pool or queue launch."""

    name: str
    """For messages: `node group p5`."""
    key: str
    """Key in the stack file, relative to `trainyard:cluster`."""
    launch_key: str
    """That of its pools."""
    availability_zone: str | None
    """Zone in the stack file, by name or id."""
    subnet_ids: tuple[str, ...]
    """Subnets in the stack file; empty if not set."""
    subnet_key: str
    """Key of those."""
    reservations: Mapping[str, Reservation]
    """Reservations that the nodes launch into, by purchase option."""
    network: NetworkPlan

    @property
    def zone(self) -> str | None:
        """The zone that the nodes must launch in, by name or id; None if not set.

        Subnets are set per queue, so the zone of one compute resource's reservation applies to the
        whole queue.
        """
        reserved = (each.availability_zone for each in self.reservations.values())
        zones = (self.availability_zone, *reserved)
        return next((zone for zone in zones if zone is not None), None)

    @property
    def subnets(self) -> tuple[str, ...]:
        """The private subnets of the nodes: the configured ones, the one in their zone, or all.

        Only the account knows the zones of an existing VPC; the subnets are then filled in.
        """
        if self.subnet_ids:
            return self.subnet_ids
        private = self.network.private_subnets
        in_zone = tuple(s.name for s in private if self.zone and s.availability_zone == self.zone)
        return in_zone or self.network.private_names

    @property
    def one_zone(self) -> bool:
        """Whether all nodes launch in one zone, even if the zone is unknown.

        A reservation by id is in one zone; a group of reservations can span several.
        """
        if self.subnet_ids:
            return len(self.subnet_ids) == 1
        return (
            self.zone is not None
            or len(self.network.private_subnets) == 1
            or any(each.kind != "odcr-group" for each in self.reservations.values())
        )


def review_missing_zone(
    place: PoolPlace,
    purchase_option: str,
    found: InstanceType,
    context: PlanContext[Any],
    review: Review,
) -> None:
    """Refuse nodes with EFA that could launch in several zones."""
    # An unknown purchase option is refused separately; the intended one may set the zone.
    if purchase_option in purchase_options(context.config.reservations) and not place.one_zone:
        zones = candidate_zones(found, context.config.network, context.offered_zones)
        refuse_missing_zone(place.key, zones, review)


def review_pool_zone(place: PoolPlace, region: str, review: Review, *, what: str) -> None:
    """Record problems of `availability_zone` of a pool; `what` is `this node group`."""
    zone = place.availability_zone
    if zone is None:
        return
    review_zone_region(review, place.key, zone, region)
    for option, reservation in place.reservations.items():
        reserved = reservation.availability_zone
        review_reserved_zone(review, place.key, zone, option, reserved, what=what)
    if place.subnet_ids:
        review.refuse(
            f"{place.key}.subnet_id",
            "is given together with `availability_zone`; a subnet already determines the zone",
            found=place.subnet_ids[0],
            allowed="one of `subnet_id` and `availability_zone`",
            remedy="remove one of the two",
            rules=("E13",),
        )


def review_pool_subnet(place: PoolPlace, network: PlacedNetwork, review: Review) -> None:
    """Record problems of `subnet_id` of a pool."""
    if not place.subnet_ids:
        return
    key, subnet = f"{place.key}.subnet_id", place.subnet_ids[0]
    if not isinstance(network, ExistingVpc):
        zone = review.set_command(f"{place.key}.availability_zone", "ZONE")
        review.refuse(
            key,
            "names a subnet, but the stack creates the subnets of a new VPC itself",
            found=subnet,
            allowed=f"`availability_zone`: {', '.join(network.availability_zones)}",
            remedy=f"remove it; {zone}",
            rules=("A10",),
        )
        return
    if subnet in network.private_subnet_ids or network.is_unread:
        return
    public = subnet in network.public_subnet_ids
    review.refuse(
        key,
        (
            "is a public subnet; nodes run in private ones, and an instance with several "
            "interfaces gets no public IP address"
            if public
            else "is not one of `network.private_subnet_ids`"
        ),
        found=subnet,
        allowed=", ".join(network.private_subnet_ids),
        remedy=review.set_command(key, network.private_subnet_ids[0]),
        rules=("A10",),
    )


def review_launch_zones(
    places: Iterable[PoolPlace], context: PlanContext[Any], review: Review
) -> None:
    """Record problems of the zones of pools, or note what is still unknown.

    With `subnets_known`, the account was queried: the subnet of a pool in an existing VPC is filled
    in, and zones in a new VPC have the spelling of the network.
    """
    network, zones_known = context.network, context.subnets_known
    wanted: dict[str, str] = {}
    what = ""
    for place in places:
        if place.launch_key in context.without_subnet:
            continue
        if not network.is_new or place.zone is None:
            _review_one_subnet(place, network, review, zones_known=zones_known)
        else:
            what, _, name = place.name.rpartition(" ")
            wanted[name] = place.zone
    _review_new_zones(wanted, network, review, what=what, zones_known=zones_known)


def _review_new_zones(
    wanted: Mapping[str, str],
    network: NetworkPlan,
    review: Review,
    *,
    what: str,
    zones_known: bool,
) -> None:
    """Record zones that a new VPC lacks, or note zones that cannot be compared yet.

    Args:
        wanted: Zones that nodes must launch in, by the name of their owner.
        network: The new VPC.
        review: Records the problems.
        what: Kind of owner, for messages: `node group`, `queue`.
        zones_known: Whether the account was queried, so that zones have the spelling of the
            network.
    """
    missing: dict[str, list[str]] = {}
    for name, zone in wanted.items():
        if zone in network.availability_zones:
            continue
        if zones_known or _comparable(zone, network):
            missing.setdefault(zone, []).append(name)
        else:
            review.note(
                f"{what} {name}: launches in the private subnet in {zone}; which of "
                f"{', '.join(network.availability_zones)} that is can only be read from the account"
            )
    for index, (zone, names) in enumerate(missing.items(), start=len(network.private_subnets)):
        at = f"network.availability_zones[{index}]"
        review.refuse(
            at,
            f"is missing: {', '.join(names)} must launch in {zone}, where the VPC has no subnet",
            found=", ".join(network.availability_zones),
            allowed=f"also {zone}",
            remedy=review.set_command(at, zone),
        )


def _comparable(zone: str, network: NetworkPlan) -> bool:
    return all(same_kind_of_zone(zone, other) for other in network.availability_zones)


def _review_one_subnet(
    place: PoolPlace, network: NetworkPlan, review: Review, *, zones_known: bool
) -> None:
    # The pool review refuses EFA without a zone.
    if len(place.subnets) == 1 or not place.one_zone:
        return
    zone = place.zone or "the zone of its capacity"
    if not zones_known:
        review.note(
            f"{place.name}: launches in the private subnet in {zone}, which can only be read from "
            "the account"
        )
        return
    listed = place.subnet_key.endswith("subnet_ids")
    subnet = f"{place.subnet_key}[0]" if listed else place.subnet_key
    zone_key = f"{place.key}.availability_zone"
    key, example = (zone_key, "ZONE") if network.is_new else (subnet, "subnet-…")
    review.refuse(
        key,
        f"is missing, and the private subnet in {zone} could not be read from the account",
        allowed=", ".join(network.availability_zones if network.is_new else place.subnets),
        remedy=review.set_command(key, example),
    )
