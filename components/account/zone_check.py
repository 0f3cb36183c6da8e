"""Account checks of the zones of a new VPC and of the nodes in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from components.account.complete import offered_zones
from components.account.facts import AccountFacts, ZoneFacts
from components.config.network import NewVpc
from components.config.pools import pools
from components.config.problems import ROOT, Problem
from components.config.stack import StackConfig
from components.config.stack_models import is_eks, is_parallelcluster
from components.eks.network_review import ZONES_WITHOUT_EKS

ZONES = f"{ROOT}.network.availability_zones"
AVAILABILITY_ZONE = "availability-zone"
_NEEDY = {
    "eks": "a control plane and its NAT gateways",
    "parallelcluster": "shared storage and NAT gateways",
    "batch": "compute environments and NAT gateways",
    "network": "NAT gateways",
}
_POOL_OWNERS = {
    "eks": "node group",
    "parallelcluster": "queue",
    "batch": "compute environment",
    "network": "network",
}
"""What has a zone, for messages, by kind of architecture."""


def zone_problems(config: StackConfig, facts: AccountFacts) -> Iterator[Problem]:
    """Yield problems of the zones of a new VPC; nothing if the zones could not be read."""
    network = config.network
    if not isinstance(network, NewVpc) or not facts.zones:
        return
    excluded = _excluded(config)
    met: dict[ZoneFacts, str] = {}
    for index, zone in enumerate(network.availability_zones):
        path, found = f"{ZONES}[{index}]", facts.zone(zone)
        if found is None or found.kind != AVAILABILITY_ZONE:
            yield _no_such_zone(path, zone, found, config, facts)
        elif found.zone_id in excluded and zone != found.zone_id:
            # The plan refuses an excluded zone that is given by id.
            yield Problem(
                path=path,
                found=f"{zone} ({found.zone_id})",
                problem="EKS places no control plane in this zone",
                allowed=_usable(config, facts),
                remedy="give another zone",
            )
        elif met.setdefault(found, zone) != zone:
            yield Problem(
                path=path,
                found=f"{zone} is {met[found]}",
                problem="this zone is given twice, by name and by id",
                remedy="remove one of the two",
            )
    if facts.could_read("ec2:DescribeInstanceTypeOfferings"):
        yield from _offering_problems(config, network, facts)


def _excluded(config: StackConfig) -> frozenset[str]:
    return ZONES_WITHOUT_EKS if is_eks(config) else frozenset()


def _no_such_zone(
    path: str, zone: str, found: ZoneFacts | None, config: StackConfig, facts: AccountFacts
) -> Problem:
    return Problem(
        path=path,
        found=zone if found is None else f"{zone}, a {found.kind}",
        problem=(
            "this account has no such zone in this region"
            if found is None
            else f"{_NEEDY[config.architecture.kind]} need a zone of the region itself"
        ),
        allowed=_usable(config, facts),
        remedy="give one of these zones, or correct aws:region",
    )


def _usable(config: StackConfig, facts: AccountFacts) -> str:
    excluded = _excluded(config)
    return ", ".join(
        f"{zone.name} ({zone.zone_id})"
        for zone in facts.zones
        if zone.kind == AVAILABILITY_ZONE and zone.zone_id not in excluded
    )


@dataclass(frozen=True, slots=True)
class _Launch:
    """An instance type, and the zones of a new VPC that it launches in."""

    key: str
    instance_type: str
    zones: tuple[str, ...]
    remedy: str


def _launches(config: StackConfig, network: NewVpc) -> Iterator[_Launch]:
    yield from _first_launch(config, network)
    owner = _POOL_OWNERS[config.architecture.kind]
    remedy = f"give the {owner} one of these as `availability_zone`, or another type"
    for pool in pools(config):
        zone = pool.availability_zone
        if zone is None and pool.efa_enabled:
            continue  # the plan requires its zone and lists the zones that offer the type
        if zone is None or zone in network.availability_zones:
            zones = network.availability_zones if zone is None else (zone,)
            yield _Launch(pool.key, pool.instance_type, zones, remedy)


def _first_launch(config: StackConfig, network: NewVpc) -> Iterator[_Launch]:
    """Yield the system nodes or the head node."""
    if is_eks(config):
        yield _Launch(
            "architecture.system_node_group",
            config.architecture.system_node_group.instance_type,
            network.availability_zones,
            "give another type, or other zones",
        )
    elif is_parallelcluster(config):
        head_node = config.architecture.head_node
        yield _Launch(
            "architecture.head_node",
            head_node.instance_type,
            (head_node.availability_zone or network.availability_zones[0],),
            "give the head node one of these as `availability_zone`, or another type",
        )


def _offering_problems(
    config: StackConfig, network: NewVpc, facts: AccountFacts
) -> Iterator[Problem]:
    offers = offered_zones(config, facts)
    for launch in _launches(config, network):
        offered = offers.get(launch.instance_type)
        lacking = [zone for zone in launch.zones if offered is not None and zone not in offered]
        if lacking:
            yield Problem(
                path=f"{ROOT}.{launch.key}.instance_type",
                found=f"{launch.instance_type} in {', '.join(lacking)}",
                problem="EC2 does not offer this type in every zone that the nodes may launch in",
                allowed=f"zones that do: {', '.join(offered or ()) or 'none of the VPC'}",
                remedy=launch.remedy,
            )
