"""Checks of the VPC and subnets that a stack file adopts."""

from __future__ import annotations

from collections.abc import Iterator

from components.account.facts import AccountFacts, SubnetFacts
from components.config.network import ExistingVpc
from components.config.problems import ROOT, Problem
from components.eks.network_review import MINIMUM_CONTROL_PLANE_ZONES, ZONES_WITHOUT_EKS

NETWORK = f"{ROOT}.network"


def network_problems(network: ExistingVpc, facts: AccountFacts) -> Iterator[Problem]:
    """Yield what is wrong with an adopted VPC and its subnets."""
    yield from _vpc_problems(network, facts)
    if not facts.could_read("ec2:DescribeSubnets"):
        return
    for kind, ids in (
        ("public_subnet_ids", network.public_subnet_ids),
        ("private_subnet_ids", network.private_subnet_ids),
    ):
        for index, subnet_id in enumerate(ids):
            path = f"{NETWORK}.{kind}[{index}]"
            subnet = facts.subnets.get(subnet_id)
            if subnet is None:
                yield Problem(
                    path=path,
                    found=subnet_id,
                    problem="this subnet does not exist in this account and region",
                    remedy="give the id of a subnet of the VPC, or correct aws:region",
                )
            else:
                yield from _subnet_problems(path, kind, subnet, network, facts)
    yield from _control_plane_problems(network, facts)


def _vpc_problems(network: ExistingVpc, facts: AccountFacts) -> Iterator[Problem]:
    if not facts.could_read("ec2:DescribeVpcs"):
        return
    if facts.vpc is None:
        yield Problem(
            path=f"{NETWORK}.vpc_id",
            found=network.vpc_id,
            problem="this VPC does not exist in this account and region",
            remedy="give the id of an existing VPC, or correct aws:region",
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
                problem=(f"the VPC has {attribute} off; EKS nodes cannot register without it"),
                remedy=(f"aws ec2 modify-vpc-attribute --vpc-id {network.vpc_id} --{attribute}"),
            )


def _subnet_problems(
    path: str, kind: str, subnet: SubnetFacts, network: ExistingVpc, facts: AccountFacts
) -> Iterator[Problem]:
    if subnet.vpc_id != network.vpc_id:
        yield Problem(
            path=path,
            found=f"{subnet.subnet_id}, of {subnet.vpc_id}",
            problem="this subnet belongs to another VPC",
            allowed=f"subnets of {network.vpc_id}",
            remedy="give a subnet of the VPC in network.vpc_id",
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
        yield from _private_route_problems(path, subnet, facts)


def _private_route_problems(
    path: str, subnet: SubnetFacts, facts: AccountFacts
) -> Iterator[Problem]:
    if subnet.default_route == "internet-gateway":
        yield Problem(
            path=path,
            found=f"{subnet.subnet_id}, default route: internet gateway",
            problem=(
                "this is a public subnet; an instance with several network interfaces gets no "
                "public address, so EFA nodes here reach neither the internet nor the registry"
            ),
            remedy="give a subnet whose default route is a NAT gateway",
        )
    elif subnet.default_route == "none" and not _pulls_images_inside(facts):
        yield Problem(
            path=path,
            found=f"{subnet.subnet_id}, no default route",
            problem="nodes here cannot pull images: no route out and no endpoint for ecr.dkr",
            remedy="route 0.0.0.0/0 to a NAT gateway, or make the VPC endpoints that EKS needs",
        )


def _pulls_images_inside(facts: AccountFacts) -> bool:
    if facts.vpc is None or not facts.could_read("ec2:DescribeVpcEndpoints"):
        return True  # nobody knows, so it is no problem to report
    return "ecr.dkr" in facts.vpc.endpoint_services


def _control_plane_problems(network: ExistingVpc, facts: AccountFacts) -> Iterator[Problem]:
    ids = (*network.public_subnet_ids, *network.private_subnet_ids)
    subnets = [facts.subnets[i] for i in ids if i in facts.subnets]
    for subnet in subnets:
        if subnet.zone_id in ZONES_WITHOUT_EKS:
            yield Problem(
                path=NETWORK,
                found=f"{subnet.subnet_id} in {subnet.availability_zone} ({subnet.zone_id})",
                problem="EKS serves no control plane with a subnet in this zone",
                remedy="leave this subnet out, and give one in another zone",
            )
    zones = sorted({s.availability_zone for s in subnets})
    if len(subnets) == len(ids) and len(zones) < MINIMUM_CONTROL_PLANE_ZONES:
        yield Problem(
            path=NETWORK,
            found=f"all subnets in {', '.join(zones)}",
            problem="an EKS control plane needs subnets in at least two zones",
            remedy="add a subnet of another zone to public_subnet_ids or private_subnet_ids",
        )
