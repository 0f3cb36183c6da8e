"""Checks of an existing VPC and its subnets."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.facts import AccountFacts, SubnetFacts
from trainyard.components.checks.check import Subject
from trainyard.components.checks.needs import NodeNeeds
from trainyard.components.config.network import ExistingVpc
from trainyard.components.config.problems import ROOT, Problem

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
