"""Fill in what the account knows and the stack file need not say.

Offline the zone of a subnet and the times of a Capacity Block are unknown; here they are not.
"""

from __future__ import annotations

from components.account.facts import AccountFacts, SubnetFacts
from components.config.eks import NodeGroup
from components.config.network import ExistingVpc
from components.config.reservations import CapacityBlock, Odcr, Reservation
from components.config.stack import StackConfig


def complete(config: StackConfig, facts: AccountFacts) -> StackConfig:
    """Return the configuration with the times of Capacity Blocks and the subnets of node groups.

    What the stack file says stays as it is; where the account has no answer nothing is filled in.
    """
    reservations = {
        name: _with_times(reservation, facts) for name, reservation in config.reservations.items()
    }
    groups = {
        name: _with_subnet(group, config, facts)
        for name, group in config.architecture.node_groups.items()
    }
    architecture = config.architecture.model_copy(update={"node_groups": groups})
    return config.model_copy(update={"reservations": reservations, "architecture": architecture})


def _with_times(reservation: Reservation, facts: AccountFacts) -> Reservation:
    if not isinstance(reservation, CapacityBlock):
        return reservation
    found = facts.reservations.get(reservation.reservation_id)
    if found is None or found.kind != "capacity-block":
        return reservation
    return reservation.model_copy(
        update={
            "starts_at": reservation.starts_at or found.starts_at,
            "ends_at": reservation.ends_at or found.ends_at,
        }
    )


def _with_subnet(group: NodeGroup, config: StackConfig, facts: AccountFacts) -> NodeGroup:
    if group.subnet_id is not None:
        return group
    zone = group_zone(group, config, facts)
    if zone is None:
        return group
    # The first in the order of the stack file: free addresses change, the choice must not.
    subnet = next((s for s in private_subnets(config, facts) if in_zone(s, zone)), None)
    if subnet is None:
        return group
    return group.model_copy(update={"subnet_id": subnet.subnet_id, "availability_zone": None})


def group_zone(group: NodeGroup, config: StackConfig, facts: AccountFacts) -> str | None:
    """Return the zone (name or zone id) that a node group must launch in, or None for any."""
    reservation = config.reservations.get(group.purchase_option)
    if isinstance(reservation, Odcr | CapacityBlock):
        found = facts.reservations.get(reservation.reservation_id)
        if found is not None:
            return found.availability_zone
    if reservation is not None and reservation.availability_zone is not None:
        return reservation.availability_zone
    return group.availability_zone


def private_subnets(config: StackConfig, facts: AccountFacts) -> list[SubnetFacts]:
    """Return the private subnets of the stack file that exist, in its order."""
    if not isinstance(config.network, ExistingVpc):
        return []
    ids = config.network.private_subnet_ids
    return [facts.subnets[i] for i in ids if i in facts.subnets]


def in_zone(subnet: SubnetFacts, zone: str) -> bool:
    """Return whether the subnet lies in the zone, given by name or by zone id."""
    return zone in {subnet.availability_zone, subnet.zone_id}
