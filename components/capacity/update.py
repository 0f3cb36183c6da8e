"""How EKS replaces the nodes of a managed group: whether it may take more capacity meanwhile.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html
    https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupUpdateConfig.html
"""

from __future__ import annotations

from components.capacity.plan import ONE_BY_ONE, UpdatePlan
from components.config.reservations import CapacityBlock, Reservation

SURGE_PER_ZONE = 2
"""Instances that an update of the strategy `DEFAULT` launches at first, for each zone of the group.

https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html, scale up phase
"""


def plan_update(
    reservation: Reservation | None, *, nodes_at_most: int, zones: int, training: bool
) -> UpdatePlan:
    """Return how nodes are replaced by ones of another version or template.

    `nodes_at_most` is what all groups of the reservation may grow to together. `DEFAULT` launches
    before it terminates, so in a reservation without room it waits for capacity until it fails;
    `MINIMAL` terminates first. Then the nodes of a training job all go at once: the job stops
    with the first of them, and one by one would stop it as often as there are nodes.
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
