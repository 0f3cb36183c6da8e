"""Checks of a new VPC without a NAT gateway for nodes and jobs.

Source: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/vpc-endpoints.html and
https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html: image layers of ECR are
in S3, and public.ecr.aws has no endpoint.
"""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.components.batch.plan import JobDefinitionPlan
from trainyard.components.catalog.batch import ENDPOINTS_WITHOUT_NAT, comes_through_endpoints
from trainyard.components.config.network import NewVpc
from trainyard.components.config.review import Review
from trainyard.components.monitoring.node_agent import AgentAccess
from trainyard.components.network.egress import nat_gateway_command


def review_batch_network(network: NewVpc, review: Review, *, agent: AgentAccess | None) -> None:
    """Record endpoints that nodes need in a new VPC without a NAT gateway.

    Args:
        network: The network.
        review: Records the problems.
        agent: What the CloudWatch agent of the nodes needs, if it sends metrics.
    """
    metrics = (agent.endpoint,) if agent else ()
    if network.nat_gateways != "none":
        return
    for key, given, needed in (
        ("interface_endpoints", network.interface_endpoints, (*ENDPOINTS_WITHOUT_NAT, *metrics)),
        ("gateway_endpoints", network.gateway_endpoints, ("s3",)),
    ):
        missing = [name for name in needed if name not in given]
        if missing:
            review.refuse(
                f"network.{key}",
                "lacks services that nodes need to run jobs if `nat_gateways` is none",
                found=", ".join(given) or "none",
                allowed=f"also {', '.join(missing)}",
                remedy=(
                    f"add {', '.join(missing)} to `network.{key}`, or "
                    f"{nat_gateway_command(network, review)}"
                ),
            )


def review_public_images(
    network: NewVpc, definitions: Sequence[JobDefinitionPlan], region: str, review: Review
) -> None:
    """Refuse jobs whose image the nodes cannot pull."""
    if network.nat_gateways != "none":
        return
    for definition in definitions:
        image = definition.container.image
        if image is not None and not comes_through_endpoints(image, region):
            review.refuse(
                f"architecture.job_definitions.{definition.name}.image",
                (
                    f"is not in a private ECR registry in {region}, and nodes cannot reach it if "
                    "`nat_gateways` is none"
                ),
                found=image,
                allowed=f"repository, or an image in a private registry of ECR in {region}",
                remedy=(
                    "push a copy to the stack's own repository and set `image: repository`, or "
                    f"{nat_gateway_command(network, review)}"
                ),
            )
