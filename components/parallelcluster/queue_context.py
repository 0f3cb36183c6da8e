"""Values that plans and reviews of queues share, and where a queue launches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from components.config.parallelcluster_nodes import ComputeResource, Queue
from components.config.parallelcluster_stack import ParallelClusterStackConfig
from components.config.reservations import Reservation
from components.network.network_plan import NetworkPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueContext:
    """Values that the queues of a stack share."""

    config: ParallelClusterStackConfig
    network: NetworkPlan
    region: str
    now: datetime
    """Timezone-aware."""
    subnets_known: bool = False
    """Whether the account was queried, so that unknown values stay unknown."""
    offered_zones: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Zones of a new VPC that offer an instance type, by type, if the account was queried."""

    def reservation_of(self, queue: Queue, resource: ComputeResource) -> Reservation | None:
        """Return the reservation of a compute resource; None without one."""
        return self.config.reservations.get(purchase_option(queue, resource))


def purchase_option(queue: Queue, resource: ComputeResource) -> str:
    """Return the purchase option of a compute resource: its own, else that of its queue."""
    return resource.purchase_option or queue.purchase_option


def reservations_of(queue: Queue, context: QueueContext) -> dict[str, Reservation]:
    """Return the reservations that the compute resources of a queue launch into, by name."""
    options = (purchase_option(queue, each) for each in queue.compute_resources.values())
    known = context.config.reservations
    return {option: known[option] for option in options if option in known}


def needs_one_subnet(queue: Queue, context: QueueContext) -> bool:
    """Return whether a queue must have exactly one subnet: with EFA, or a reservation by id.

    ParallelCluster launches a queue with several subnets through EC2 Fleet, which does not accept a
    reservation id.
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html, `SubnetIds` and
    `CapacityReservationId`
    """
    by_id = any(r.kind != "odcr-group" for r in reservations_of(queue, context).values())
    return by_id or any(each.efa_enabled for each in queue.compute_resources.values())


def queue_zone(queue: Queue, context: QueueContext) -> str | None:
    """Return the zone that a queue must launch in, by name or id; None if not set.

    Subnets are set per queue, so the zone of one compute resource's reservation applies to the
    whole queue.
    """
    if queue.availability_zone is not None:
        return queue.availability_zone
    zones = (r.availability_zone for r in reservations_of(queue, context).values())
    return next((zone for zone in zones if zone is not None), None)


def one_zone(queue: Queue, context: QueueContext) -> bool:
    """Return whether all nodes of a queue launch in one zone, even if the zone is unknown."""
    if queue.subnet_ids:
        return len(queue.subnet_ids) == 1
    reserved = reservations_of(queue, context).values()
    return (
        queue_zone(queue, context) is not None
        or len(context.network.private_subnets) == 1
        or any(reservation.kind != "odcr-group" for reservation in reserved)
    )


def queue_subnets(queue: Queue, context: QueueContext) -> tuple[str, ...]:
    """Return the private subnets of a queue: the configured ones, the one in its zone, or all.

    Only the account knows the zones of an existing VPC; `subnet_ids` is then filled in.
    """
    if queue.subnet_ids:
        return queue.subnet_ids
    zone = queue_zone(queue, context)
    private = context.network.private_subnets
    in_zone = tuple(s.name for s in private if zone and s.availability_zone == zone)
    return in_zone or context.network.private_names
