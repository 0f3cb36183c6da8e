"""Checks of the zones of a new VPC against the account, and of the node groups in them."""

from __future__ import annotations

from collections.abc import Iterator

from components.account.complete import group_zone, offered_zones
from components.account.facts import AccountFacts, ZoneFacts
from components.config.network import NewVpc
from components.config.problems import ROOT, Problem
from components.config.stack import StackConfig
from components.eks.network_review import ZONES_WITHOUT_EKS

ZONES = f"{ROOT}.network.availability_zones"
ARCHITECTURE = f"{ROOT}.architecture"
AVAILABILITY_ZONE = "availability-zone"


def zone_problems(config: StackConfig, facts: AccountFacts) -> Iterator[Problem]:
    """Yield what is wrong with the zones of a new VPC; nothing where they could not be read."""
    network = config.network
    if not isinstance(network, NewVpc) or not facts.zones:
        return
    met: dict[ZoneFacts, str] = {}
    for index, zone in enumerate(network.availability_zones):
        path, found = f"{ZONES}[{index}]", facts.zone(zone)
        if found is None or found.kind != AVAILABILITY_ZONE:
            yield _no_such_zone(path, zone, found, facts)
        elif found.zone_id in ZONES_WITHOUT_EKS and zone != found.zone_id:
            # One that is given by its id the plan refuses.
            yield Problem(
                path=path,
                found=f"{zone} ({found.zone_id})",
                problem="EKS places no control plane in this zone",
                allowed=_usable(facts),
                remedy="give another zone",
            )
        elif met.setdefault(found, zone) != zone:
            yield Problem(
                path=path,
                found=f"{zone} is {met[found]}",
                problem="this zone is given twice, by name and by id",
                remedy="remove one of the two",
            )
    yield from _capacity_problems(config, facts)
    if facts.could_read("ec2:DescribeInstanceTypeOfferings"):
        yield from _offering_problems(config, network, facts)


def _no_such_zone(path: str, zone: str, found: ZoneFacts | None, facts: AccountFacts) -> Problem:
    return Problem(
        path=path,
        found=zone if found is None else f"{zone}, a {found.kind}",
        problem=(
            "this account has no such zone in this region"
            if found is None
            else "a control plane and its NAT gateways need a zone of the region itself"
        ),
        allowed=_usable(facts),
        remedy="give one of these zones, or correct aws:region",
    )


def _usable(facts: AccountFacts) -> str:
    return ", ".join(
        f"{zone.name} ({zone.zone_id})"
        for zone in facts.zones
        if zone.kind == AVAILABILITY_ZONE and zone.zone_id not in ZONES_WITHOUT_EKS
    )


def _capacity_problems(config: StackConfig, facts: AccountFacts) -> Iterator[Problem]:
    for name, group in config.architecture.node_groups.items():
        needed = group_zone(group, config, facts)
        asked, there = group.availability_zone, facts.zone(needed) if needed else None
        if asked and there and facts.zone(asked) != there:
            yield Problem(
                path=f"{ARCHITECTURE}.node_groups.{name}.availability_zone",
                found=asked,
                problem=f"the reservation `{group.purchase_option}` is in {there.name}",
                allowed=f"{there.name} ({there.zone_id})",
                remedy="remove `availability_zone`: it follows from the reservation",
            )


def _offering_problems(
    config: StackConfig, network: NewVpc, facts: AccountFacts
) -> Iterator[Problem]:
    offers = offered_zones(config, facts)
    system = config.architecture.system_node_group.instance_type
    wanted = [("system_node_group", system, network.availability_zones)]
    for name, group in config.architecture.node_groups.items():
        zone = group.availability_zone
        if zone is None and group.efa_enabled:
            continue  # the plan asks for its zone, and says which ones offer the type
        zones = network.availability_zones if zone is None else (zone,)
        if zone is None or zone in network.availability_zones:
            wanted.append((f"node_groups.{name}", group.instance_type, zones))
    for key, instance_type, zones in wanted:
        offered = offers.get(instance_type)
        lacking = [zone for zone in zones if offered is not None and zone not in offered]
        if lacking:
            fix = "give the node group one of these as `availability_zone`, or another type"
            yield Problem(
                path=f"{ARCHITECTURE}.{key}.instance_type",
                found=f"{instance_type} in {', '.join(lacking)}",
                problem="EC2 does not offer this type in every zone that the nodes may launch in",
                allowed=f"zones that do: {', '.join(offered or ()) or 'none of the VPC'}",
                remedy=fix if key != "system_node_group" else "give another type, or other zones",
            )
