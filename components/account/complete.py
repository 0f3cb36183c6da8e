"""Fill in values from the account that the stack file omits.

Examples are the zone of a subnet and the times of a Capacity Block, which are unknown offline.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from components.account.facts import AccountFacts
from components.account.launch_place import place_of
from components.account.reservations import complete_reservation
from components.config.network import NewVpc
from components.config.node_pool import NodePool
from components.config.pools import pools
from components.config.stack import StackConfig
from components.config.stack_models import is_batch, is_eks, is_parallelcluster

if TYPE_CHECKING:
    from components.config.stack import Architecture

Config = TypeVar("Config", bound=StackConfig)
_NodePool = TypeVar("_NodePool", bound=NodePool)


def complete(config: Config, facts: AccountFacts) -> Config:
    """Return the configuration with missing values of reservations and node subnets filled in.

    Values in the stack file are not changed, and unknown values are not filled in.
    """
    reservations = {
        name: complete_reservation(reservation, facts)
        for name, reservation in config.reservations.items()
    }
    architecture = _completed(config, facts)
    return config.model_copy(update={"reservations": reservations, "architecture": architecture})


def _completed(config: StackConfig, facts: AccountFacts) -> Architecture:
    if is_eks(config):
        groups = _placed(config.architecture.node_groups, config, facts)
        return config.architecture.model_copy(update={"node_groups": groups})
    if is_parallelcluster(config):
        from components.account.parallelcluster_complete import complete_cluster

        return complete_cluster(config.architecture, config, facts)
    if is_batch(config):
        environments = _placed(config.architecture.compute_environments, config, facts)
        return config.architecture.model_copy(update={"compute_environments": environments})
    return config.architecture


def _placed(
    named: Mapping[str, _NodePool], config: StackConfig, facts: AccountFacts
) -> dict[str, _NodePool]:
    """Return the node pools, with the subnet of each pool that launches in one zone."""
    placed = dict(named)
    for pool in pools(config):
        place = place_of(pool, config, facts)
        if place is not None:
            update = {"subnet_id": place.subnet_id, "availability_zone": place.availability_zone}
            placed[pool.name] = placed[pool.name].model_copy(update=update)
    return placed


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
