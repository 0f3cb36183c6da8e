"""Checks of node groups against the account: zone offerings, key pairs, room in the subnets."""

from __future__ import annotations

from collections.abc import Iterator

from components.account.facts import AccountFacts
from components.config.problems import ROOT, Problem
from components.config.stack import StackConfig
from components.eks.plan import EksPlan
from components.eks.room_plan import addresses_by_subnet

GROUPS = f"{ROOT}.architecture.node_groups"


def pool_problems(config: StackConfig, facts: AccountFacts) -> Iterator[Problem]:
    """Yield what is wrong with the node groups of a stack file in this account."""
    offerings_known = facts.could_read("ec2:DescribeInstanceTypeOfferings")
    for name, group in config.architecture.node_groups.items():
        path = f"{GROUPS}.{name}"
        offered = facts.offered_zone_ids.get(group.instance_type) if offerings_known else None
        subnet = facts.subnets.get(group.subnet_id or "")
        if offered is not None and subnet is not None and subnet.zone_id not in offered:
            yield Problem(
                path=f"{path}.instance_type",
                found=f"{group.instance_type} in {subnet.availability_zone} ({subnet.zone_id})",
                problem="EC2 does not offer this type in this zone",
                allowed=f"zones {', '.join(sorted(offered)) or 'of another region'}",
                remedy="give a subnet in one of these zones, or another instance type",
            )
        key = group.ssh_key_name
        if key and facts.could_read("ec2:DescribeKeyPairs") and key not in facts.key_pairs:
            yield Problem(
                path=f"{path}.ssh_key_name",
                found=key,
                problem="this key pair does not exist in this region; no node would launch",
                remedy="import it (`aws ec2 import-key-pair`), or remove ssh_key_name",
            )


def room_problems(plan: EksPlan, facts: AccountFacts) -> Iterator[Problem]:
    """Yield the subnets that are too small for the nodes that the plan puts there.

    Compared with the size of the subnet, not with what is free now: the nodes of the cluster
    itself take free addresses, and a second `up` must not fail for them.
    """
    for subnet_id, need in addresses_by_subnet(plan.node_groups).items():
        subnet = facts.subnets.get(subnet_id)
        if subnet is not None and need.addresses > subnet.usable_addresses:
            names = ", ".join(need.groups)
            yield Problem(
                path=f"{ROOT}.network.private_subnet_ids",
                found=f"{subnet_id} ({subnet.cidr}), {subnet.usable_addresses} addresses",
                problem=(
                    f"the interfaces and pods of {names} need {need.addresses} addresses; the "
                    "nodes that get none fail to launch"
                ),
                remedy=(
                    f"use a larger subnet in {subnet.availability_zone}, fewer nodes, or "
                    "interface_layout: efa-only, which takes one address a node"
                ),
            )
