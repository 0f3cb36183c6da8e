"""Account checks of node pools: zones, offerings and subnet addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.launch_place import (
    private_subnets,
    zone_without_subnet,
)
from trainyard.components.account.reservations import found_reservations
from trainyard.components.checks.check import NOTHING_FOUND, Subject
from trainyard.components.config.pools import Pool
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.config.stack import StackConfig
from trainyard.components.network.address_capacity import AddressNeed
from trainyard.components.network.network_plan import NetworkPlan

ADDRESSES = Subject(
    "network",
    "the subnets have enough addresses for all nodes",
    NOTHING_FOUND,
    ("ec2:DescribeSubnets",),
)
"""What `address_problems` checks."""


def pool_problems(config: StackConfig, facts: AccountFacts) -> Iterator[Problem]:
    """Yield pools whose zone has no subnet or does not offer their instance type."""
    for pool in config.pools():
        for subnet_id in pool.subnet_ids:
            yield from offering_problems(
                f"{ROOT}.{pool.key}.instance_type", pool.instance_type, subnet_id, facts
            )
    missing: dict[str, list[Pool]] = {}
    for pool in config.pools():
        zone = zone_without_subnet(pool, config, facts)
        if zone is not None:
            missing.setdefault(zone, []).append(pool)
    for zone, without in missing.items():
        yield _no_subnet(without, zone, config, facts)


def _no_subnet(without: list[Pool], zone: str, config: StackConfig, facts: AccountFacts) -> Problem:
    zones = {f"{s.availability_zone} ({s.zone_id})" for s in private_subnets(config, facts)}
    options = {pool.purchase_option for pool in without} & config.reservations.keys()
    found = [found_reservations(config.reservations[name], facts) for name in sorted(options)]
    ids = [each.reservation_id for reservations in found for each in reservations]
    whose = f", the zone of {', '.join(ids)}" if ids else ""
    return Problem(
        path=f"{ROOT}.network.private_subnet_ids",
        found=f"private subnets in {', '.join(sorted(zones))}",
        problem=(
            f"{config.architecture.POOL_NOUN} {', '.join(pool.name for pool in without)} must "
            f"launch in {zone}{whose}, which has no private subnet"
        ),
        remedy=f"add a private subnet in {zone} to private_subnet_ids, or choose another zone",
    )


def offering_problems(
    path: str, instance_type: str, subnet_id: str, facts: AccountFacts
) -> Iterator[Problem]:
    """Yield problems of an instance type in the zone of an existing subnet."""
    if not facts.could_read("ec2:DescribeInstanceTypeOfferings"):
        return
    offered = facts.offered_zone_ids.get(instance_type)
    subnet = facts.subnets.get(subnet_id)
    if offered is not None and subnet is not None and subnet.zone_id not in offered:
        yield Problem(
            path=path,
            found=f"{instance_type} in {subnet.availability_zone} ({subnet.zone_id})",
            problem="EC2 does not offer this type in this zone",
            allowed=f"zones {', '.join(sorted(offered)) or 'of another region'}",
            remedy="use a subnet in one of these zones, or another instance type",
        )


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


def offering_subjects(config: StackConfig, facts: AccountFacts) -> Iterator[Subject]:
    """Yield what the check of offered instance types asks."""
    calls = ("ec2:DescribeInstanceTypeOfferings",)
    for pool in config.pools():
        zones = facts.offered_zone_ids.get(pool.instance_type, frozenset())
        found = f"{pool.instance_type} in {', '.join(sorted(zones)) or 'no zone'}"
        yield Subject(pool.key, "the type is offered where the nodes launch", found, calls)
