"""Which private subnets a node group launches in, and what is wrong with its zone."""

from __future__ import annotations

from collections.abc import Sequence

from components.config.base import same_kind_of_zone
from components.config.eks import NodeGroup
from components.config.reservations import Reservation
from components.config.review import Review
from components.eks.plan import NodeGroupPlan
from components.network.network_plan import NetworkPlan


def choose_subnets(
    group: NodeGroup, reservation: Reservation | None, network: NetworkPlan
) -> tuple[str, ...]:
    """Return the private subnets of a node group: the named one, that of its zone, or all.

    The zones of an existing VPC only the account knows; it has filled in `subnet_id` then.
    """
    if group.subnet_id is not None:
        return (group.subnet_id,)
    zone = launch_zone(group, reservation)
    in_zone = tuple(s.name for s in network.private_subnets if zone and s.availability_zone == zone)
    return in_zone or network.private_names


def launch_zone(group: NodeGroup, reservation: Reservation | None) -> str | None:
    """Return the zone that a node group must launch in, by name or by id; None where not said."""
    return group.availability_zone or (reservation.availability_zone if reservation else None)


def review_launch_zones(
    launches: Sequence[tuple[NodeGroupPlan, str | None]],
    network: NetworkPlan,
    review: Review,
    *,
    zones_known: bool,
) -> None:
    """Record what is wrong with the zones of node groups, or note what nobody knows yet.

    `launches` are node groups with their `launch_zone`. With `zones_known` the account was asked:
    the subnet of a node group in an existing VPC is filled in, and its zone in a new one is
    spelled as the network spells it.
    """
    missing: dict[str, list[str]] = {}
    for group, zone in launches:
        if not network.is_new or zone is None:
            _review_one_subnet(group, zone, network, review, zones_known=zones_known)
        elif zone in network.availability_zones:
            continue
        elif zones_known or _comparable(zone, network):
            missing.setdefault(zone, []).append(group.name)
        else:
            review.note(
                f"node group {group.name}: launches in the private subnet in {zone}; only the "
                f"account knows which of {', '.join(network.availability_zones)} that is"
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
    group: NodeGroupPlan,
    zone: str | None,
    network: NetworkPlan,
    review: Review,
    *,
    zones_known: bool,
) -> None:
    reserved = group.capacity.kind in {"odcr", "capacity-block"}
    if len(group.subnets) == 1 or not (reserved or group.interfaces or zone):
        return
    if network.is_new and not reserved:
        return  # `availability_zone` is missing for EFA, which the review of the group says
    zone = zone or "the zone of its capacity"
    if not zones_known:
        review.note(
            f"node group {group.name}: launches in the private subnet in {zone}, which only the "
            "account knows"
        )
        return
    what, example = ("availability_zone", "ZONE") if network.is_new else ("subnet_id", "subnet-…")
    key = f"architecture.node_groups.{group.name}.{what}"
    review.refuse(
        key,
        f"is missing, and the account did not say which private subnet lies in {zone}",
        allowed=", ".join(network.availability_zones if network.is_new else group.subnets),
        remedy=review.set_command(key, example),
    )
