"""Fill in what the account knows and the stack file need not say.

Offline the zone of a subnet and the times of a Capacity Block are unknown; here they are not.
"""

from __future__ import annotations

from typing import TypeVar

from components.account.facts import AccountFacts
from components.account.launch_place import place_of
from components.account.parallelcluster_complete import complete_cluster
from components.account.reservations import complete_reservation
from components.config.eks import EksArchitecture
from components.config.network import NewVpc
from components.config.pools import pools
from components.config.stack import StackConfig

Config = TypeVar("Config", bound=StackConfig)


def complete(config: Config, facts: AccountFacts) -> Config:
    """Return the configuration with what reservations and the subnets of nodes leave open.

    What the stack file says stays as it is; where the account has no answer nothing is filled in.
    """
    reservations = {
        name: complete_reservation(reservation, facts)
        for name, reservation in config.reservations.items()
    }
    if isinstance(config.architecture, EksArchitecture):
        architecture = _with_node_groups(config.architecture, config, facts)
    else:
        architecture = complete_cluster(config.architecture, config, facts)
    return config.model_copy(update={"reservations": reservations, "architecture": architecture})


def _with_node_groups(
    architecture: EksArchitecture, config: StackConfig, facts: AccountFacts
) -> EksArchitecture:
    groups = dict(architecture.node_groups)
    for pool in pools(config):
        place = place_of(pool, config, facts)
        if place is not None:
            groups[pool.name] = groups[pool.name].model_copy(
                update={
                    "subnet_id": place.subnet_id,
                    "availability_zone": place.availability_zone,
                }
            )
    return architecture.model_copy(update={"node_groups": groups})


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
