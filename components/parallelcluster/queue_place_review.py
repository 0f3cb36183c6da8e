"""Checks of the zone and the subnets of a queue."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.components.capacity.pool_review import (
    purchase_options,
    review_reserved_zone,
    review_zone_region,
)
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.config.base import same_kind_of_zone
from trainyard.components.config.network import ExistingVpc
from trainyard.components.config.parallelcluster_nodes import Queue
from trainyard.components.config.review import Review
from trainyard.components.network.candidate_zones import candidate_zones, refuse_missing_zone
from trainyard.components.network.pool_place import PoolPlace
from trainyard.components.parallelcluster.queue_context import Context, needs_one_subnet


def review_place(name: str, queue: Queue, context: Context, review: Review) -> None:
    """Record problems of the zone and the subnets of a queue in the stack file."""
    key = f"architecture.queues.{name}"
    place = context.place(key)
    review_zone_region(review, key, queue.availability_zone, context.region)
    _review_reserved_zones(place, review)
    _review_subnets(key, queue, context, review)
    _review_several_subnets(place, queue, review)
    _review_missing_zone(place, queue, context, review)


def _review_reserved_zones(place: PoolPlace, review: Review) -> None:
    reserved = {
        option: found.availability_zone
        for option, found in place.reservations.items()
        if found.availability_zone is not None
    }
    own = place.availability_zone
    if own is not None:
        for option, zone in reserved.items():
            review_reserved_zone(review, place.key, own, option, zone, what="this queue")
        return
    pairs = list(reserved.items())
    for option, other in pairs[1:]:
        first, zone = pairs[0]
        if same_kind_of_zone(zone, other) and zone != other:
            review.refuse(
                f"{place.key}.compute_resources",
                (
                    "use reservations in two zones, but the nodes of a queue with a reservation "
                    "launch in one subnet"
                ),
                found=f"`{first}` in {zone}, `{option}` in {other}",
                allowed="reservations in one zone",
                remedy="use a separate queue for each reservation",
            )


def _review_subnets(key: str, queue: Queue, context: Context, review: Review) -> None:
    subnets, network = queue.subnet_ids, context.config.network
    if not subnets:
        return
    key = f"{key}.subnet_ids"
    if not isinstance(network, ExistingVpc):
        review.refuse(
            key,
            "names subnets, but the stack creates the subnets of a new VPC itself",
            found=", ".join(subnets),
            allowed=f"`availability_zone`: {', '.join(network.availability_zones)}",
            remedy="remove it, and set `availability_zone`",
            rules=("E13",),
        )
        return
    if queue.availability_zone is not None:
        review.refuse(
            key,
            "is given together with `availability_zone`; a subnet already determines the zone",
            found=", ".join(subnets),
            allowed="one of `subnet_ids` and `availability_zone`",
            remedy="remove one of the two",
            rules=("E13",),
        )
    _review_listed(key, subnets, network, review)


def _review_listed(key: str, subnets: Sequence[str], network: ExistingVpc, review: Review) -> None:
    if len(set(subnets)) < len(subnets):
        review.refuse(
            key,
            "lists a subnet twice, which ParallelCluster rejects (QueueSubnetsValidator)",
            found=", ".join(subnets),
            remedy="remove the second one",
            rules=("E3",),
        )
    listed = (*network.private_subnet_ids, *(subnets if network.is_unread else ()))
    foreign = [subnet for subnet in subnets if subnet not in listed]
    public = [subnet for subnet in foreign if subnet in network.public_subnet_ids]
    if foreign:
        review.refuse(
            key,
            (
                "has a public subnet; nodes run in private ones, and an instance with several "
                "interfaces gets no public IP address"
                if public
                else "has a subnet that is not one of `network.private_subnet_ids`"
            ),
            found=", ".join(public or foreign),
            allowed=", ".join(network.private_subnet_ids),
            remedy=review.set_command(f"{key}[0]", network.private_subnet_ids[0]),
            rules=("A10",),
        )


def _review_several_subnets(place: PoolPlace, queue: Queue, review: Review) -> None:
    if len(set(queue.subnet_ids)) < 2 or not needs_one_subnet(queue, place):
        return
    efa = [name for name, each in queue.compute_resources.items() if each.efa_enabled]
    review.refuse(
        place.subnet_key,
        (
            f"has several subnets, but {', '.join(efa)} uses EFA, whose traffic cannot leave a "
            "zone (EfaMultiAzValidator)"
            if efa
            else "has several subnets, but a reservation by id needs exactly one subnet "
            "(SingleInstanceTypeSubnetValidator)"
        ),
        found=", ".join(queue.subnet_ids),
        allowed="one subnet",
        remedy="keep the one in the zone of the capacity, or disable EFA"
        if efa
        else "keep the one in the zone of the reservation",
        rules=("A6",),
    )


def _review_missing_zone(place: PoolPlace, queue: Queue, context: Context, review: Review) -> None:
    efa = [each for each in queue.compute_resources.values() if each.efa_enabled]
    options = purchase_options(context.config.reservations)
    # An unknown purchase option is refused separately; the intended one may set the zone.
    wanted = [each.purchase_option or queue.purchase_option for each in efa]
    known = all(option in options for option in wanted)
    if not efa or not known or queue.subnet_ids or place.one_zone:
        return
    found = INSTANCE_TYPES.get(efa[0].instance_type)
    zones = None
    if found is not None:
        zones = candidate_zones(
            found, context.config.network, context.offered_zones, subnet_key="subnet_ids"
        )
    refuse_missing_zone(place.key, zones, review)
