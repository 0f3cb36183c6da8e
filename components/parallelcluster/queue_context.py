"""How a queue buys capacity, and whether it needs one subnet."""

from __future__ import annotations

from trainyard.components.config.parallelcluster_nodes import ComputeResource, Queue
from trainyard.components.config.parallelcluster_stack import ParallelClusterStackConfig
from trainyard.components.network.pool_place import PlanContext, PoolPlace

Context = PlanContext[ParallelClusterStackConfig]


def purchase_option(queue: Queue, resource: ComputeResource) -> str:
    """Return the purchase option of a compute resource: its own, else that of its queue."""
    return resource.purchase_option or queue.purchase_option


def needs_one_subnet(queue: Queue, place: PoolPlace) -> bool:
    """Return whether a queue must have exactly one subnet: with EFA, or a reservation by id.

    ParallelCluster launches a queue with several subnets through EC2 Fleet, which does not accept a
    reservation id.
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html, `SubnetIds` and
    `CapacityReservationId`
    """
    by_id = any(each.kind != "odcr-group" for each in place.reservations.values())
    return by_id or any(each.efa_enabled for each in queue.compute_resources.values())
