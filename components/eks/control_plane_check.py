"""Checks of the control plane subnets in an existing VPC."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.facts import AccountFacts
from trainyard.components.checks.check import Subject
from trainyard.components.config.network import ExistingVpc
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.eks.network_review import MINIMUM_CONTROL_PLANE_ZONES, ZONES_WITHOUT_EKS

CONTROL_PLANE_SUBNETS = Subject(
    "network",
    "the control plane finds its subnets",
    calls=("ec2:DescribeSubnets",),
)
"""What `control_plane_problems` checks."""

NETWORK = f"{ROOT}.network"


def control_plane_problems(network: ExistingVpc, facts: AccountFacts) -> Iterator[Problem]:
    """Yield why EKS cannot create a control plane in these subnets."""
    if not facts.could_read("ec2:DescribeSubnets"):
        return
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
