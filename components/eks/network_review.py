"""EKS requirements for a new VPC, except its addresses."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.components.config.eks import EksArchitecture
from trainyard.components.config.eks_stack import EksStackConfig
from trainyard.components.config.network import NewVpc
from trainyard.components.config.review import Review
from trainyard.components.eks.addons.eks_managed import EKS_ADDONS
from trainyard.components.eks.addons.registry import plan_self_managed_addons, with_public_images
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.network.egress import nat_gateway_command

MINIMUM_CONTROL_PLANE_ZONES = 2
ZONES_WITHOUT_EKS = frozenset({"use1-az3", "usw1-az2", "cac1-az3"})
"""Zone ids that do not support control plane subnets.

https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html, "Subnet requirements"
"""
ENDPOINTS_WITHOUT_NAT = ("ec2", "ecr.api", "ecr.dkr", "sts")
"""Services that a node calls before it is ready: VPC CNI gets addresses from EC2, images come from
ECR (layers from S3), and credentials from STS.

https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html
"""


def review_eks_network(network: NewVpc, architecture: EksArchitecture, review: Review) -> None:
    """Record problems of a new VPC for EKS, except its addresses."""
    zones, key = network.availability_zones, "network.availability_zones"
    if len(set(zones)) < MINIMUM_CONTROL_PLANE_ZONES:
        review.refuse(
            key,
            "names one zone; EKS needs two for the control plane",
            found=zones[0],
            allowed="two zones or more that EKS serves",
            remedy=review.set_command(f"{key}[{len(zones)}]", "ZONE"),
        )
    for zone in sorted(ZONES_WITHOUT_EKS.intersection(zones)):
        review.refuse(
            f"{key}[{zones.index(zone)}]",
            "is a zone in which EKS places no control plane",
            found=zone,
            allowed=f"any other zone; not {', '.join(sorted(ZONES_WITHOUT_EKS))}",
            remedy=review.set_command(f"{key}[{zones.index(zone)}]", "ZONE"),
        )
    if network.nat_gateways == "none":
        _review_without_nat(network, architecture, review)


def _review_without_nat(network: NewVpc, architecture: EksArchitecture, review: Review) -> None:
    _review_endpoints(network, ENDPOINTS_WITHOUT_NAT, "without which no node becomes ready", review)
    for addon in EKS_ADDONS:
        if getattr(architecture.addons, addon.key):
            _review_endpoints(network, addon.endpoints, f"that {addon.name} calls", review)
    if "s3" not in network.gateway_endpoints:
        review.refuse(
            "network.gateway_endpoints",
            "lacks s3, from which nodes get the layers of images where `nat_gateways` is none",
            found=", ".join(network.gateway_endpoints) or "none",
            allowed="s3, with or without dynamodb",
            remedy=review.set_command("network.gateway_endpoints[0]", "s3"),
        )
    if not architecture.endpoint.private_access:
        review.refuse(
            "architecture.endpoint.private_access",
            "is off, and nodes have no way to the public endpoint where `nat_gateways` is none",
            found=False,
            allowed="true",
            remedy=review.set_command("architecture.endpoint.private_access", "true"),
        )
    review.note(
        "network: without a NAT gateway no image comes from a public registry; every image of your "
        "own must lie in Amazon ECR"
    )


def _review_endpoints(network: NewVpc, needed: Sequence[str], problem: str, review: Review) -> None:
    missing = [name for name in needed if name not in network.interface_endpoints]
    if missing:
        review.refuse(
            "network.interface_endpoints",
            f"lacks services {problem} where `nat_gateways` is none",
            found=", ".join(network.interface_endpoints) or "none",
            allowed=f"also {', '.join(missing)}",
            remedy=(
                f"add {', '.join(missing)} to `network.interface_endpoints`, or "
                f"{nat_gateway_command(network, review)}"
            ),
        )


def review_public_images(
    network: NewVpc,
    config: EksStackConfig,
    groups: Sequence[NodeGroupPlan],
    review: Review,
) -> None:
    """Refuse software with images in public registries that the nodes cannot reach."""
    needed = with_public_images(plan_self_managed_addons(config, groups))
    if network.nat_gateways == "none" and needed:
        review.refuse(
            "network.nat_gateways",
            (
                f"is none, and the image of {' and '.join(needed)} lies in a public registry, "
                "which no node would reach"
            ),
            found="none",
            allowed="single, one-per-zone",
            remedy=nat_gateway_command(network, review),
        )
