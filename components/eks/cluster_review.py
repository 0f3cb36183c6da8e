"""Checks of an EKS cluster beyond its schema."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from ipaddress import IPv4Network

from trainyard.components.checks.tag_review import review_tags
from trainyard.components.config.eks import EksArchitecture
from trainyard.components.config.eks_stack import EksStackConfig
from trainyard.components.config.network import ExistingVpc, NewVpc
from trainyard.components.config.review import Review
from trainyard.components.eks.version_review import review_version
from trainyard.components.network.existing_vpc_review import review_existing_vpc

_NOT_PUBLIC = tuple(
    map(
        IPv4Network,
        (
            "10.0.0.0/8",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.168.0.0/16",
            "224.0.0.0/4",
        ),
    )
)
"""Networks that EKS answers with "The following CIDRs are not allowed in publicAccessCidrs".

https://docs.aws.amazon.com/eks/latest/userguide/config-cluster-endpoint.html: the blocks cannot
include reserved addresses
"""
_DOCUMENTATION = tuple(map(IPv4Network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")))
"""https://www.rfc-editor.org/rfc/rfc5737"""


def review_cluster(config: EksStackConfig, now: datetime, review: Review) -> None:
    """Record problems of network, version, access and tags."""
    review_tags(config.tags, review)
    if isinstance(config.network, ExistingVpc):
        review_existing_vpc(config.network, review)
        _review_control_plane_subnets(config.network, review)
    review_version(config.architecture, now, review)
    _review_access(config.architecture, review)
    _review_endpoint(config, review)


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


def is_public(network: IPv4Network) -> bool:
    """Return whether EKS accepts a network in `publicAccessCidrs`."""
    return not any(network.subnet_of(each) for each in _NOT_PUBLIC)


def _review_public_networks(cidrs: Sequence[str], review: Review) -> None:
    for index, cidr in enumerate(cidrs):
        network = IPv4Network(cidr)
        if not is_public(network):
            key = f"architecture.endpoint.public_access_cidrs[{index}]"
            review.refuse(
                key,
                "is no network of the internet, from which the public endpoint is reached; EKS "
                "refuses it",
                found=cidr,
                allowed="public addresses, such as those of your NAT gateway or office",
                remedy=(
                    f"{review.set_command(key, 'YOUR.PUBLIC.ADDRESS/32')}; nodes and private "
                    "networks use `private_access`"
                ),
            )
        elif any(network.subnet_of(each) for each in _DOCUMENTATION):
            review.note(
                f"endpoint: {cidr} in public_access_cidrs is a network for documentation, which "
                "EKS refuses; give the public addresses of your own network"
            )


def _review_endpoint(config: EksStackConfig, review: Review) -> None:
    endpoint = config.architecture.endpoint
    if not endpoint.public_access and not endpoint.private_access:
        review.refuse(
            "architecture.endpoint.private_access",
            "is off, as is public access: the Kubernetes API could not be reached",
            found=False,
            allowed="true for at least one of the two",
            remedy=review.set_command("architecture.endpoint.private_access", "true"),
            rules=("H5",),
        )
    _review_public_networks(endpoint.public_access_cidrs, review)
    restricted = "0.0.0.0/0" not in endpoint.public_access_cidrs
    if endpoint.public_access and not endpoint.private_access and restricted:
        review.note(
            "endpoint: without private access the nodes reach the Kubernetes API through the "
            "internet; public_access_cidrs must hold the addresses of the NAT gateways"
        )
    if not endpoint.public_access:
        # https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html#private-access
        review.note(
            "endpoint: without public access `up` must run inside the VPC or on a network that "
            "reaches it, from which the security group of the cluster admits port 443"
        )
    network = config.network
    is_new = isinstance(network, NewVpc) and network.adopt is None
    if is_new and not endpoint.public_access:
        review.note(
            "endpoint: nothing is in the new VPC before the first `up`, which therefore needs "
            "public access; remove it when the cluster is up"
        )
