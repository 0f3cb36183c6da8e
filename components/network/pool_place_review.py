"""Checks of the zone and the subnet of a node pool, for all architectures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trainyard.components.capacity.pool_review import (
    purchase_options,
    review_reserved_zone,
    review_zone_region,
)
from trainyard.components.catalog.instance_type import InstanceType
from trainyard.components.config.base import same_kind_of_zone
from trainyard.components.config.network import ExistingVpc, PlacedNetwork
from trainyard.components.config.review import Review
from trainyard.components.network.candidate_zones import candidate_zones, refuse_missing_zone
from trainyard.components.network.network_plan import NetworkPlan
from trainyard.components.network.pool_place import PlanContext, PoolPlace


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
