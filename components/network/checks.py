"""Checks of VPCs, subnets, zones and addresses against the account."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trainyard.components.account.check import (
    NOTHING_FOUND,
    ArchitectureNeeds,
    Check,
    Finding,
    NodeNeeds,
    Subject,
)
from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.known import Known
from trainyard.components.capacity.launch_place import offered_zones
from trainyard.components.capacity.reservations import found_reservations
from trainyard.components.config.network import ExistingVpc, NewVpc
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.config.stack import StackConfig
from trainyard.components.network.address_capacity import AddressNeed
from trainyard.components.network.facts import SubnetFacts, ZoneFacts
from trainyard.components.network.network_plan import NetworkPlan

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


NETWORK = f"{ROOT}.network"


def network_problems(
    network: ExistingVpc, facts: AccountFacts, needs: NodeNeeds
) -> Iterator[Problem]:
    """Yield problems of an existing VPC and its subnets."""
    yield from _vpc_problems(network, facts, needs)
    if not facts.could_read("ec2:DescribeSubnets"):
        return
    for kind, ids in (
        ("public_subnet_ids", network.public_subnet_ids),
        ("private_subnet_ids", network.private_subnet_ids),
    ):
        for index, subnet_id in enumerate(ids):
            path = f"{NETWORK}.{kind}[{index}]"
            subnet = facts.subnets.get(subnet_id)
            left_out = facts.left_out.get(f"subnet {subnet_id}")
            if left_out is not None:
                yield Problem(
                    path=path,
                    found=subnet_id,
                    problem=f"this subnet cannot be used: {left_out}",
                    remedy="set the id of a subnet with an IPv4 block",
                )
            elif subnet is None:
                yield Problem(
                    path=path,
                    found=subnet_id,
                    problem="this subnet does not exist in this account and region",
                    remedy="set the id of a subnet of the VPC, or correct aws:region",
                )
            else:
                yield from _subnet_problems(path, kind, subnet, network, facts, needs)


def _vpc_problems(network: ExistingVpc, facts: AccountFacts, needs: NodeNeeds) -> Iterator[Problem]:
    if not facts.could_read("ec2:DescribeVpcs"):
        return
    if facts.vpc is None:
        yield Problem(
            path=f"{NETWORK}.vpc_id",
            found=network.vpc_id,
            problem="this VPC does not exist in this account and region",
            remedy="set the id of an existing VPC, or correct aws:region",
        )
        return
    for attribute, on in (
        ("enable-dns-support", facts.vpc.dns_support),
        ("enable-dns-hostnames", facts.vpc.dns_hostnames),
    ):
        if not on:
            yield Problem(
                path=f"{NETWORK}.vpc_id",
                found=network.vpc_id,
                problem=f"{attribute} is disabled in the VPC; {needs.dns}",
                remedy=f"aws ec2 modify-vpc-attribute --vpc-id {network.vpc_id} --{attribute}",
            )


def _subnet_problems(
    path: str,
    kind: str,
    subnet: SubnetFacts,
    network: ExistingVpc,
    facts: AccountFacts,
    needs: NodeNeeds,
) -> Iterator[Problem]:
    if subnet.vpc_id != network.vpc_id:
        yield Problem(
            path=path,
            found=f"{subnet.subnet_id}, of {subnet.vpc_id}",
            problem="this subnet belongs to another VPC",
            allowed=f"subnets of {network.vpc_id}",
            remedy="use a subnet of the VPC in network.vpc_id",
        )
        return
    yield from _unusable_problems(path, subnet, needs)
    if not facts.could_read("ec2:DescribeRouteTables"):
        return
    if kind == "public_subnet_ids" and subnet.default_route != "internet-gateway":
        yield Problem(
            path=path,
            found=f"{subnet.subnet_id}, default route: {subnet.default_route}",
            problem="this subnet has no route to an internet gateway, so it is not public",
            remedy="move it to private_subnet_ids, or route 0.0.0.0/0 to an internet gateway",
        )
    if kind == "private_subnet_ids":
        yield from _private_route_problems(path, subnet, facts, needs)


def _unusable_problems(path: str, subnet: SubnetFacts, needs: NodeNeeds) -> Iterator[Problem]:
    """Yield why nothing launches in a subnet, or nothing in it reaches the internet.

    Sources:
        https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Subnet.html, `State`
        https://docs.aws.amazon.com/outposts/latest/server-userguide/launch-instance.html: a subnet
        of an Outpost has the instance types of the Outpost
        https://docs.aws.amazon.com/vpc/latest/userguide/security-vpc-bpa.html: bidirectional mode
        blocks NAT gateways too
    """
    if subnet.state != "available":
        yield Problem(
            path=path,
            found=f"{subnet.subnet_id}, state {subnet.state}",
            problem="EC2 launches nothing in a subnet in this state",
            allowed="a subnet that is available",
            remedy="wait until it is available, or use another subnet",
        )
    if subnet.outpost_arn:
        yield Problem(
            path=path,
            found=f"{subnet.subnet_id}, on {subnet.outpost_arn}",
            problem="this subnet is on an Outpost, which has no capacity of the region",
            allowed="a subnet in the region",
            remedy="use another subnet of the VPC",
        )
    if subnet.gateway_block == "block-bidirectional" and subnet.default_route in _THROUGH_GATEWAY:
        yield Problem(
            path=path,
            found=f"{subnet.subnet_id}, {subnet.gateway_block}",
            problem=(
                "VPC Block Public Access blocks all traffic of this subnet through internet "
                f"gateways, also that of NAT gateways, so that nodes reach neither the internet "
                f"nor {needs.registry}"
            ),
            allowed="`off`, or `block-ingress`",
            remedy=(
                "exclude the VPC (`aws ec2 create-vpc-block-public-access-exclusion --vpc-id "
                f"{subnet.vpc_id} --internet-gateway-exclusion-mode allow-egress`), or ask who "
                "manages Block Public Access"
            ),
        )


_THROUGH_GATEWAY = ("internet-gateway", "nat")


def tenancy_problems(config: StackConfig, facts: AccountFacts) -> Iterator[Problem]:
    """Yield reservations whose tenancy is not that of the nodes.

    The tenancy of nodes is that of their VPC, and a VPC with dedicated tenancy launches no others.

    Sources:
        https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-reservations.html: an
        instance matches by type, platform, zone and tenancy
        https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/dedicated-instance.html
    """
    tenancy = facts.vpc.tenancy if facts.vpc is not None else "default"
    for name, reservation in config.reservations.items():
        for found in found_reservations(reservation, facts):
            if not config.pools_with(name) or found.tenancy == tenancy:
                continue
            vpc = f"{facts.vpc.vpc_id} is {tenancy}" if facts.vpc else f"a new VPC is {tenancy}"
            yield Problem(
                path=f"{ROOT}.reservations.{name}",
                found=f"{found.reservation_id}, tenancy {found.tenancy}",
                problem=(
                    f"instances launch into a reservation of their own tenancy only, and that of "
                    f"{vpc}"
                ),
                allowed=f"a reservation with the tenancy {tenancy}",
                remedy="use a reservation, or a VPC, of the other tenancy",
            )


def tenancy_warnings(config: StackConfig, facts: AccountFacts) -> Iterator[str]:
    """Yield that all nodes are dedicated instances, which have a price of their own."""
    if isinstance(config.network, ExistingVpc) and facts.vpc and facts.vpc.tenancy == "dedicated":
        yield (
            f"network.vpc_id: {facts.vpc.vpc_id} has the tenancy dedicated, so that all nodes are "
            "dedicated instances, at a higher price and with a fee for each hour in the region: "
            f"`aws ec2 modify-vpc-tenancy --vpc-id {facts.vpc.vpc_id} --instance-tenancy default`"
        )


def _private_route_problems(
    path: str, subnet: SubnetFacts, facts: AccountFacts, needs: NodeNeeds
) -> Iterator[Problem]:
    if subnet.default_route == "internet-gateway":
        yield Problem(
            path=path,
            found=f"{subnet.subnet_id}, default route: internet gateway",
            problem=(
                "this is a public subnet; an instance with several network interfaces gets no "
                "public IP address, so EFA nodes here can reach neither the internet nor "
                f"{needs.registry}"
            ),
            remedy="use a subnet whose default route is a NAT gateway",
        )
    elif subnet.default_route == "none" and not _reaches_inside(facts, needs):
        yield Problem(
            path=path,
            found=f"{subnet.subnet_id}, no default route",
            problem=needs.closed,
            remedy=(
                "route 0.0.0.0/0 to a NAT gateway, or create the VPC endpoints that "
                f"{needs.endpoint_owner} needs"
            ),
        )


def _reaches_inside(facts: AccountFacts, needs: NodeNeeds) -> bool:
    if facts.vpc is None or not facts.could_read("ec2:DescribeVpcEndpoints"):
        return True  # unknown, so not reported
    return needs.endpoints <= facts.vpc.endpoint_services


def network_subjects(network: ExistingVpc, facts: AccountFacts) -> Iterator[Subject]:
    """Yield what the checks of an existing VPC ask."""
    yield Subject(
        "network.vpc_id",
        "exists, with DNS support and DNS hostnames",
        network.vpc_id,
        ("ec2:DescribeVpcs", "ec2:DescribeVpcAttribute"),
    )
    yield _subnets("public", network.public_subnet_ids, facts)
    yield _subnets("private", network.private_subnet_ids, facts)


def _subnets(kind: str, ids: tuple[str, ...], facts: AccountFacts) -> Subject:
    found = "; ".join(
        f"{each.subnet_id}: {each.availability_zone}, {each.free_addresses} addresses free, "
        f"default route {each.default_route}"
        for each in (facts.subnets[i] for i in ids if i in facts.subnets)
    )
    calls = ("ec2:DescribeSubnets", "ec2:DescribeRouteTables")
    return Subject(
        f"network.{kind}_subnet_ids", f"are {kind} subnets of the VPC", found or "none", calls
    )


# Problems of a network that comes from another stack.
#
# The stack file does not contain its ids, so its keys cannot be changed there.


_NETWORK = f"{ROOT}.network"


def at_reference(problem: Problem, stack: str | None) -> Problem:
    """Return a problem with key and remedy for a stack file that references `stack`.

    Other problems, and problems of a network in the stack file itself (`stack` is None), are
    returned unchanged.
    """
    if stack is None or not f"{problem.path}.".startswith(f"{_NETWORK}."):
        return problem
    return replace(
        problem,
        path=f"{_NETWORK}.stack",
        found=stack if problem.found is None else f"{stack}, with {problem.found}",
        allowed="a stack of `kind: network` in this account and region whose network fits",
        remedy=f"change the network in the stack file of {stack} and deploy it again, or name "
        "another stack",
    )


ADDRESSES = Subject(
    "network",
    "the subnets have enough addresses for all nodes",
    NOTHING_FOUND,
    ("ec2:DescribeSubnets",),
)
"""What `address_problems` checks."""


def address_problems(
    needs: Mapping[str, AddressNeed],
    network: NetworkPlan,
    facts: AccountFacts,
    *,
    takers: str,
    remedy: str,
) -> Iterator[Problem]:
    """Yield subnets that are too small for the plan.

    The check uses the size of the subnet, not its free addresses: the nodes of the cluster use
    addresses too, and a second `up` must not fail because of them.

    Args:
        needs: Needs by subnet id.
        network: Network plan.
        facts: The account.
        takers: What uses the addresses, for messages: `interfaces and pods`.
        remedy: Alternative to a larger subnet.
    """
    public = {subnet.name for subnet in network.public_subnets}
    for subnet_id, need in needs.items():
        subnet = facts.subnets.get(subnet_id)
        if subnet is not None and need.addresses > subnet.usable_addresses:
            kind = "public" if subnet_id in public else "private"
            yield Problem(
                path=f"{ROOT}.network.{kind}_subnet_ids",
                found=f"{subnet_id} ({subnet.cidr}), {subnet.usable_addresses} addresses",
                problem=(
                    f"the {takers} of {', '.join(need.users)} need {need.addresses} addresses; "
                    "nodes without an address fail to launch"
                ),
                remedy=f"use a larger subnet in {subnet.availability_zone}, {remedy}",
            )


def network_checks(known: Known[Any, Any]) -> Iterator[Finding]:
    """Yield the check of the zones of a new VPC, or of an existing VPC and its subnets."""
    config, facts, needs = known.config, known.facts, known.needs
    yield Check("reservations", tenancy_problems(config, facts))
    yield from tenancy_warnings(config, facts)
    network = config.network
    if not isinstance(network, ExistingVpc):
        yield Check("zones", zone_problems(config, facts, needs), zone_subjects(network, facts))
    elif needs.nodes is not None:
        problems = network_problems(network, facts, needs.nodes)
        yield Check("VPC and subnets", problems, network_subjects(network, facts))
