"""Account checks of the zones of a new VPC and of the nodes in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.components.account.facts import AccountFacts, ZoneFacts
from trainyard.components.account.launch_place import offered_zones
from trainyard.components.checks.check import Subject
from trainyard.components.checks.needs import ArchitectureNeeds
from trainyard.components.config.network import NewVpc
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.config.stack import StackConfig

ZONES = f"{ROOT}.network.availability_zones"
AVAILABILITY_ZONE = "availability-zone"


def zone_problems(
    config: StackConfig, facts: AccountFacts, needs: ArchitectureNeeds
) -> Iterator[Problem]:
    """Yield problems of the zones of a new VPC; nothing if the zones could not be read."""
    network = config.network
    if not isinstance(network, NewVpc) or not facts.zones:
        return
    met: dict[ZoneFacts, str] = {}
    for index, zone in enumerate(network.availability_zones):
        path, found = f"{ZONES}[{index}]", facts.zone(zone)
        if found is None or found.kind != AVAILABILITY_ZONE:
            yield _no_such_zone(path, zone, found, needs, facts)
        elif found.zone_id in needs.excluded_zones and zone != found.zone_id:
            # The plan refuses an excluded zone that is given by id.
            yield Problem(
                path=path,
                found=f"{zone} ({found.zone_id})",
                problem="EKS does not support control planes in this zone",
                allowed=_usable(needs, facts),
                remedy="use another zone",
            )
        elif met.setdefault(found, zone) != zone:
            yield Problem(
                path=path,
                found=f"{zone} is {met[found]}",
                problem="this zone is listed twice, by name and by id",
                remedy="remove one of the two",
            )
    if facts.could_read("ec2:DescribeInstanceTypeOfferings"):
        yield from _offering_problems(config, network, facts)


def _no_such_zone(
    path: str, zone: str, found: ZoneFacts | None, needs: ArchitectureNeeds, facts: AccountFacts
) -> Problem:
    return Problem(
        path=path,
        found=zone if found is None else f"{zone}, a {found.kind}",
        problem=(
            "this account has no such zone in this region"
            if found is None
            else f"{needs.zone_users} need an Availability Zone, not a Local Zone"
        ),
        allowed=_usable(needs, facts),
        remedy="use one of these zones, or correct aws:region",
    )


def _usable(needs: ArchitectureNeeds, facts: AccountFacts) -> str:
    return ", ".join(
        f"{zone.name} ({zone.zone_id})"
        for zone in facts.zones
        if zone.kind == AVAILABILITY_ZONE and zone.zone_id not in needs.excluded_zones
    )


@dataclass(frozen=True, slots=True)
class _Launch:
    """An instance type, and the zones of a new VPC that it launches in."""

    key: str
    instance_type: str
    zones: tuple[str, ...]
    remedy: str


def _launches(config: StackConfig, network: NewVpc) -> Iterator[_Launch]:
    every = network.availability_zones
    for own in config.architecture.own_nodes():
        zones = every[:1] if own.first_zone_only else every
        zone = own.availability_zone
        yield _Launch(own.key, own.instance_type, (zone,) if zone else zones, own.zone_remedy)
    noun = config.architecture.PLACE_NOUN
    remedy = f"set `availability_zone` of the {noun} to one of these, or use another instance type"
    for pool in config.pools():
        zone = pool.availability_zone
        if zone is None and pool.efa_enabled:
            continue  # the plan requires its zone and lists the zones that offer the type
        if zone is None or zone in every:
            yield _Launch(pool.key, pool.instance_type, (zone,) if zone else every, remedy)


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
                problem="EC2 does not offer this type in every zone that the nodes can launch in",
                allowed=f"zones that do: {', '.join(offered or ()) or 'none of the VPC'}",
                remedy=launch.remedy,
            )


def zone_subjects(network: NewVpc, facts: AccountFacts) -> Iterator[Subject]:
    """Yield what the checks of the zones of a new VPC ask."""
    found = (facts.zone(each) for each in network.availability_zones)
    named = ", ".join(f"{zone.name} ({zone.zone_id})" for zone in found if zone)
    calls = ("ec2:DescribeAvailabilityZones",)
    asked = "are zones of this region that the stack can use"
    yield Subject("network.availability_zones", asked, named, calls)
