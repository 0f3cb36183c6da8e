"""Fill in what the account knows and the stack file need not say.

Offline the zone of a subnet and the times of a Capacity Block are unknown; here they are not.
"""

from __future__ import annotations

from components.account.facts import AccountFacts, SubnetFacts
from components.account.reservations import complete_reservation, reservation_zone
from components.config.eks import NodeGroup
from components.config.network import ExistingVpc, NewVpc
from components.config.stack import StackConfig


def complete(config: StackConfig, facts: AccountFacts) -> StackConfig:
    """Return the configuration with what reservations and the subnets of node groups leave open.

    What the stack file says stays as it is; where the account has no answer nothing is filled in.
    """
    reservations = {
        name: complete_reservation(reservation, facts)
        for name, reservation in config.reservations.items()
    }
    groups = {
        name: _with_subnet(group, config, facts)
        for name, group in config.architecture.node_groups.items()
    }
    architecture = config.architecture.model_copy(update={"node_groups": groups})
    return config.model_copy(update={"reservations": reservations, "architecture": architecture})


def _with_subnet(group: NodeGroup, config: StackConfig, facts: AccountFacts) -> NodeGroup:
    if group.subnet_id is not None:
        return group
    zone = group_zone(group, config, facts)
    if zone is None:
        return group
    if isinstance(config.network, NewVpc):
        return _with_zone(group, zone, config.network, facts)
    # The first in the order of the stack file: free addresses change, the choice must not.
    subnet = next((s for s in private_subnets(config, facts) if in_zone(s, zone)), None)
    if subnet is None:
        return group
    return group.model_copy(update={"subnet_id": subnet.subnet_id, "availability_zone": None})


def _with_zone(group: NodeGroup, zone: str, network: NewVpc, facts: AccountFacts) -> NodeGroup:
    """Return the group with its zone spelled as the network spells it, if the VPC is there."""
    wanted = facts.zone(zone)
    asked = facts.zone(group.availability_zone) if group.availability_zone else None
    if wanted is None or asked not in (None, wanted):
        return group
    listed = (z for z in network.availability_zones if facts.zone(z) == wanted)
    return group.model_copy(update={"availability_zone": next(listed, zone)})


def offered_zones(config: StackConfig, facts: AccountFacts) -> dict[str, tuple[str, ...]]:
    """Return the zones of a new VPC that offer an instance type, by type."""
    if not isinstance(config.network, NewVpc) or not facts.zones:
        return {}
    zones = {zone: facts.zone(zone) for zone in config.network.availability_zones}
    return {
        instance_type: tuple(
            zone for zone, found in zones.items() if found and found.zone_id in offered
        )
        for instance_type, offered in facts.offered_zone_ids.items()
    }


def group_zone(group: NodeGroup, config: StackConfig, facts: AccountFacts) -> str | None:
    """Return the zone (name or zone id) that a node group must launch in, or None for any."""
    reservation = config.reservations.get(group.purchase_option)
    return reservation_zone(reservation, facts) or group.availability_zone


def private_subnets(config: StackConfig, facts: AccountFacts) -> list[SubnetFacts]:
    """Return the private subnets of the stack file that exist, in its order."""
    if not isinstance(config.network, ExistingVpc):
        return []
    ids = config.network.private_subnet_ids
    return [facts.subnets[i] for i in ids if i in facts.subnets]


def in_zone(subnet: SubnetFacts, zone: str) -> bool:
    """Return whether the subnet lies in the zone, given by name or by zone id."""
    return zone in {subnet.availability_zone, subnet.zone_id}
