"""How EKS replaces the nodes of a managed group, with or without additional capacity.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html
    https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupUpdateConfig.html
"""

from __future__ import annotations

from trainyard.components.capacity.plan import ONE_BY_ONE, UpdatePlan
from trainyard.components.config.reservations import CapacityBlock, Reservation

SURGE_PER_ZONE = 2
"""Instances per zone of the group that an update with the strategy `DEFAULT` launches first.

https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html, scale up phase
"""


def plan_update(
    reservation: Reservation | None, *, nodes_at_most: int, zones: int, training: bool
) -> UpdatePlan:
    """Return how an update to another version or launch template replaces nodes.

    `nodes_at_most` is the total maximum size of all groups in the reservation. `DEFAULT` launches
    before it terminates, so in a full reservation it waits for capacity until it fails; `MINIMAL`
    terminates first. With `MINIMAL`, all nodes of a training job are replaced at once: the job
    stops with its first node, and replacing them one by one would stop it once per node.
    """
    if _has_room(reservation, nodes_at_most + SURGE_PER_ZONE * zones):
        return ONE_BY_ONE
    if training:
        return UpdatePlan(strategy="MINIMAL", maximum_unavailable_percentage=100)
    return UpdatePlan(strategy="MINIMAL", maximum_unavailable=1)


def _has_room(reservation: Reservation | None, instances: int) -> bool:
    if reservation is None:
        return True
    if isinstance(reservation, CapacityBlock) or reservation.instance_count is None:
        return False
    return instances <= reservation.instance_count
