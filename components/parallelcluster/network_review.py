"""ParallelCluster requirements for a new VPC, except its addresses.

Source:
https://docs.aws.amazon.com/parallelcluster/latest/ug/aws-parallelcluster-in-a-single-public-subnet-no-internet-v3.html
"""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.components.config.network import NewVpc
from trainyard.components.config.parallelcluster_nodes import HeadNode
from trainyard.components.config.review import Review

ENDPOINTS_WITHOUT_NAT = ("cloudformation", "ec2", "logs")
"""Services that nodes call during their start, and the one for their logs."""
GATEWAYS_WITHOUT_NAT = ("s3", "dynamodb")
"""Services from which nodes read the cluster files and the names of other nodes."""


def review_cluster_network(
    network: NewVpc, head_node: HeadNode, review: Review, *, more_endpoints: Sequence[str]
) -> None:
    """Record endpoints that nodes need in a new VPC without a NAT gateway or public subnets.

    Args:
        network: The network.
        head_node: The head node.
        review: Records the problems.
        more_endpoints: Services that nodes call besides those of ParallelCluster.
    """
    interfaces = (*ENDPOINTS_WITHOUT_NAT, *more_endpoints)
    if not network.public_subnets:
        review.refuse(
            "network.public_subnets",
            (
                "is false, but the head node registers its nodes in Route 53, which has no VPC "
                "endpoint: without internet access, the cluster creation fails"
            ),
            found=False,
            allowed="true",
            remedy=review.set_command("network.public_subnets", "true"),
        )
        return
    if network.nat_gateways != "none":
        return
    for key, given, needed in (
        ("interface_endpoints", network.interface_endpoints, interfaces),
        ("gateway_endpoints", network.gateway_endpoints, GATEWAYS_WITHOUT_NAT),
    ):
        missing = [name for name in needed if name not in given]
        if missing:
            review.refuse(
                f"network.{key}",
                "lacks services that nodes need to join the cluster if `nat_gateways` is none",
                found=", ".join(given) or "none",
                allowed=f"also {', '.join(missing)}",
                remedy=(
                    f"add {', '.join(missing)} to `network.{key}`, or "
                    f"{review.set_command('network.nat_gateways', 'single')}"
                ),
            )
    if head_node.network == "private":
        review.refuse(
            "architecture.head_node.network",
            (
                "is private, but the head node registers its nodes in Route 53, which has no VPC "
                "endpoint: without a NAT gateway, the cluster creation fails"
            ),
            found="private",
            allowed="public, or `network.nat_gateways: single`",
            remedy=review.set_command("network.nat_gateways", "single"),
        )
