"""What the plans and the reviews of all queues of a stack share, and where a queue launches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from components.config.parallelcluster import ComputeResource, Queue
from components.config.parallelcluster_stack import ParallelClusterStackConfig
from components.config.reservations import Reservation
from components.network.network_plan import NetworkPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueContext:
    """What the queues of a stack share."""

    config: ParallelClusterStackConfig
    network: NetworkPlan
    region: str
    now: datetime
    """With its offset."""
    subnets_known: bool = False
    """Whether the account was asked, so that what is unknown now stays unknown."""
    offered_zones: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Zones of a new VPC that offer an instance type, by type, as far as the account was asked."""

    def reservation_of(self, queue: Queue, resource: ComputeResource) -> Reservation | None:
        """Return what a compute resource launches into; None for open capacity."""
        return self.config.reservations.get(purchase_option(queue, resource))


def purchase_option(queue: Queue, resource: ComputeResource) -> str:
    """Return how a compute resource buys: its own way, else its queue's."""
    return resource.purchase_option or queue.purchase_option


def reservations_of(queue: Queue, context: QueueContext) -> dict[str, Reservation]:
    """Return the reservations that the compute resources of a queue launch into, by name."""
    options = (purchase_option(queue, each) for each in queue.compute_resources.values())
    known = context.config.reservations
    return {option: known[option] for option in options if option in known}


def needs_one_subnet(queue: Queue, context: QueueContext) -> bool:
    """Return whether a queue may have one subnet only: with EFA, or a reservation by its id.

    ParallelCluster launches a queue of several subnets through a fleet, which takes no id of a
    reservation.
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html, `SubnetIds` and
    `CapacityReservationId`
    """
    by_id = any(r.kind != "odcr-group" for r in reservations_of(queue, context).values())
    return by_id or any(each.efa_enabled for each in queue.compute_resources.values())


def queue_zone(queue: Queue, context: QueueContext) -> str | None:
    """Return the zone that a queue must launch in, by name or by id; None where not said.

    The subnets belong to the queue, so the zone of one compute resource's reservation is that of
    all its neighbours.
    """
    if queue.availability_zone is not None:
        return queue.availability_zone
    zones = (r.availability_zone for r in reservations_of(queue, context).values())
    return next((zone for zone in zones if zone is not None), None)


def one_zone(queue: Queue, context: QueueContext) -> bool:
    """Return whether all nodes of a queue launch in one zone, whether or not it is known which."""
    if queue.subnet_ids:
        return len(queue.subnet_ids) == 1
    reserved = reservations_of(queue, context).values()
    return (
        queue_zone(queue, context) is not None
        or len(context.network.private_subnets) == 1
        or any(reservation.kind != "odcr-group" for reservation in reserved)
    )


def queue_subnets(queue: Queue, context: QueueContext) -> tuple[str, ...]:
    """Return the private subnets of a queue: the named ones, that of its zone, or all.

    The zones of an existing VPC only the account knows; it has filled in `subnet_ids` then.
    """
    if queue.subnet_ids:
        return queue.subnet_ids
    zone = queue_zone(queue, context)
    private = context.network.private_subnets
    in_zone = tuple(s.name for s in private if zone and s.availability_zone == zone)
    return in_zone or context.network.private_names
