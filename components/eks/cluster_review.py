"""Checks of an EKS cluster beyond its schema."""

from __future__ import annotations

from datetime import datetime

from components.checks.tag_review import review_tags
from components.config.eks import EksArchitecture
from components.config.eks_stack import EksStackConfig
from components.config.network import ExistingVpc
from components.config.review import Review
from components.eks.version_review import review_version
from components.network.existing_vpc_review import review_existing_vpc

MOST_PUBLIC_ACCESS_CIDRS = 40
"""Quota `Public endpoint access CIDR ranges per cluster` (L-93A74D60), which cannot be raised.
https://docs.aws.amazon.com/general/latest/gr/eks.html"""


def review_cluster(config: EksStackConfig, now: datetime, review: Review) -> None:
    """Record problems of network, version, access and tags."""
    review_tags(config.tags, review)
    if isinstance(config.network, ExistingVpc):
        review_existing_vpc(config.network, review)
        _review_control_plane_subnets(config.network, review)
    review_version(config.architecture, now, review)
    _review_access(config.architecture, review)
    _review_endpoint(config.architecture, review)


def _review_control_plane_subnets(network: ExistingVpc, review: Review) -> None:
    if len({*network.public_subnet_ids, *network.private_subnet_ids}) < 2:
        review.refuse(
            "network.private_subnet_ids",
            "and the public subnets are one subnet; EKS needs two zones for the control plane",
            found=network.private_subnet_ids[0],
            allowed="two subnets or more, in two zones",
            remedy=review.set_command("network.private_subnet_ids[1]", "subnet-…"),
        )


def _review_access(architecture: EksArchitecture, review: Review) -> None:
    mode, how = architecture.authentication_mode, architecture.node_authorization
    key = "architecture.node_authorization"
    if mode == "API" and how == "aws-auth":
        review.refuse(
            key,
            "writes the aws-auth ConfigMap, which EKS does not read in the mode `API`; nodes of "
            "self-managed groups would not join",
            found=how,
            allowed="access-entry, or the mode API_AND_CONFIG_MAP",
            remedy=review.set_command(key, "access-entry"),
        )
    if mode == "CONFIG_MAP" and how == "access-entry":
        review.refuse(
            key,
            "makes access entries, which EKS refuses in the mode `CONFIG_MAP`",
            found=how,
            allowed="aws-auth, or the mode API_AND_CONFIG_MAP",
            remedy=review.set_command(key, "aws-auth"),
        )


def _review_endpoint(architecture: EksArchitecture, review: Review) -> None:
    endpoint = architecture.endpoint
    if not endpoint.public_access and not endpoint.private_access:
        review.refuse(
            "architecture.endpoint.private_access",
            "is off, as is public access: nobody could reach the Kubernetes API",
            found=False,
            allowed="true for one of the two at least",
            remedy=review.set_command("architecture.endpoint.private_access", "true"),
        )
    count = len(endpoint.public_access_cidrs)
    if count > MOST_PUBLIC_ACCESS_CIDRS:
        review.refuse(
            "architecture.endpoint.public_access_cidrs",
            "holds more ranges than EKS takes for a cluster, and AWS does not raise this quota",
            found=count,
            allowed=f"at most {MOST_PUBLIC_ACCESS_CIDRS}",
            remedy="join adjacent ranges into larger ones, or leave some out",
        )
    restricted = "0.0.0.0/0" not in endpoint.public_access_cidrs
    if endpoint.public_access and not endpoint.private_access and restricted:
        review.note(
            "endpoint: without private access the nodes reach the Kubernetes API through the "
            "internet; public_access_cidrs must hold the addresses of the NAT gateways"
        )
    if not endpoint.public_access:
        review.note(
            "endpoint: without public access `up` must run inside the VPC or on a network that "
            "reaches it"
        )
