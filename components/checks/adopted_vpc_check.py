"""Account checks of a VPC that the stack adopts: it is what the stack file says.

The update imports the objects. A difference would change one of them, or replace it, which their
protection prevents only halfway through the update.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.vpc_layout import LayoutSubnet, VpcLayout
from trainyard.components.account.vpc_lookup import CALLS
from trainyard.components.checks.adopted_routing_check import difference, routing_differences
from trainyard.components.checks.check import Subject
from trainyard.components.config.adopted_vpc import AdoptedVpc
from trainyard.components.config.network import NewVpc
from trainyard.components.config.problems import Problem
from trainyard.components.config.stack import StackConfig
from trainyard.components.network.network_plan import NetworkPlan, SubnetPlan
from trainyard.components.network.vpc_plan import plan_network
from trainyard.components.tagging import CLUSTER_TAG


def adopted_vpc_problems(config: StackConfig, facts: AccountFacts) -> Iterator[Problem]:
    """Yield where the VPC of `network.adopt` is not what the stack file says."""
    network = config.network
    if not isinstance(network, NewVpc) or network.adopt is None:
        return
    if not all(facts.could_read(call) for call in CALLS):
        return
    found = facts.adopted_vpc
    if found is None:
        yield difference(
            "adopt.vpc_id",
            "this VPC does not exist in this account and region",
            found=network.adopt.vpc_id,
            remedy="set the id of an existing VPC, or correct aws:region",
        )
        return
    yield from _owner_problems(config, found)
    yield from differences(network, found, own=config.name)


def adopted_vpc_subjects(network: NewVpc) -> Iterator[Subject]:
    """Yield what the checks of an adopted VPC ask."""
    if network.adopt is not None:
        asked = "exists, with everything that the stack file says, and nothing would be changed"
        yield Subject("network.adopt", asked, network.adopt.vpc_id, CALLS)


def differences(network: NewVpc, found: VpcLayout, *, own: str) -> Iterator[Problem]:
    """Yield where a VPC is not what the keys of the network say.

    Args:
        network: The network, with `adopt`.
        found: The VPC in the account.
        own: Name of the stack, whose tag is on what the stack has added to the VPC.
    """
    wanted = network.adopt
    if wanted is None:
        return
    plan = plan_network(network, region="")
    yield from _vpc_problems(plan, wanted, found)
    yield from _gateway_problems(wanted, found)
    yield from _subnet_problems(plan, wanted, found)
    yield from routing_differences(network, plan, wanted, found, own=own)


def _owner_problems(config: StackConfig, found: VpcLayout) -> Iterator[Problem]:
    owner = found.tags.get(CLUSTER_TAG, config.name)
    if owner != config.name:
        yield difference(
            "adopt.vpc_id",
            "this VPC is part of another stack, which can change and delete it",
            found=f"{found.vpc_id}, of the stack {owner}",
            allowed="a VPC without an owner",
            remedy=(
                "use it without owning it (network.kind: existing-vpc, or stack-reference); if the "
                f"other stack no longer has it, remove its tag {CLUSTER_TAG}"
            ),
        )


def _vpc_problems(plan: NetworkPlan, wanted: AdoptedVpc, found: VpcLayout) -> Iterator[Problem]:
    if plan.cidr != found.cidr:
        yield difference(
            "cidr",
            "is not the primary CIDR block of the VPC, which cannot be changed",
            found=plan.cidr,
            allowed=found.cidr,
        )
    pairs = zip(plan.secondary_cidrs, wanted.cidr_association_ids, strict=False)
    for index, (cidr, association) in enumerate(pairs):
        if found.secondary.get(cidr) != association:
            yield difference(
                f"adopt.cidr_association_ids[{index}]",
                f"is not the association of {cidr} with the VPC",
                found=association,
                allowed=found.secondary.get(cidr)
                or f"the VPC has {', '.join(found.secondary) or 'no secondary CIDR blocks'}",
            )
    for attribute, on in (
        ("enable-dns-support", found.dns_support),
        ("enable-dns-hostnames", found.dns_hostnames),
    ):
        if not on:
            yield difference(
                "adopt.vpc_id",
                f"{attribute} is disabled in the VPC, and enabled in the VPC of a stack",
                found=found.vpc_id,
                remedy=f"aws ec2 modify-vpc-attribute --vpc-id {found.vpc_id} --{attribute}",
            )


def _gateway_problems(wanted: AdoptedVpc, found: VpcLayout) -> Iterator[Problem]:
    gateway = wanted.internet_gateway_id
    if gateway is not None and gateway not in found.internet_gateway_ids:
        yield difference(
            "adopt.internet_gateway_id",
            "is not attached to the VPC",
            found=gateway,
            allowed=", ".join(found.internet_gateway_ids) or "the VPC has none",
        )


def _subnet_problems(plan: NetworkPlan, wanted: AdoptedVpc, found: VpcLayout) -> Iterator[Problem]:
    for subnet in plan.subnets:
        ids = wanted.zones.get(subnet.availability_zone or "")
        if ids is None:
            continue
        kind = "public" if subnet.public else "private"
        key = f"adopt.zones.{subnet.availability_zone}.{kind}_subnet_id"
        given = ids.public_subnet_id if subnet.public else ids.private_subnet_id
        table = wanted.public_route_table_id if subnet.public else ids.private_route_table_id
        if given is None:
            continue
        if given not in found.subnets:
            yield difference(
                key,
                f"is not a subnet of {found.vpc_id} with an IPv4 block",
                found=given,
                allowed="subnets of the VPC with an IPv4 block",
            )
            continue
        for what, theirs, ours in _compared(subnet, found.subnets[given], table or ""):
            if ours != theirs:
                yield difference(
                    key,
                    f"has another {what} than the stack file says",
                    found=f"{given}, {theirs or 'the main one'}",
                    allowed=ours,
                )


def _compared(
    subnet: SubnetPlan, found: LayoutSubnet, table: str
) -> Iterator[tuple[str, str, str | None]]:
    """Yield what is compared: a noun, the value in the account, and the planned one."""
    zone = subnet.availability_zone
    yield "CIDR block", found.cidr, subnet.cidr
    yield "zone", found.zone_id if zone == found.zone_id else found.zone, zone
    yield "route table", found.table_id, table
