"""Checks of an EKS cluster, its version and its network beyond their schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from ipaddress import IPv4Network

from trainyard.components.catalog.versions import (
    EKS_VERSIONS,
    STANDARD_SUPPORT_ENDS,
    minor_number,
    standard_support_ended,
    standard_support_ends_soon,
)
from trainyard.components.config.eks import EksArchitecture, EksStackConfig
from trainyard.components.config.network import ExistingVpc, NewVpc
from trainyard.components.config.problems import Review
from trainyard.components.config.stack_review import review_tags
from trainyard.components.eks.addons.eks_managed import EKS_ADDONS
from trainyard.components.eks.addons.registry import plan_self_managed_addons, with_public_images
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.eks.plan import LogGroupPlan
from trainyard.components.network.network_plan import nat_gateway_command
from trainyard.components.network.vpc_review import review_existing_vpc

# Checks of a cluster's Kubernetes version that need no account.
#
# They refuse only what cannot be planned. A version past its standard support is noted: whether a
# cluster of it exists, which EKS keeps running, only the account shows, and
# `trainyard.components.eks.version_check` refuses a new one.


KEY = "architecture.kubernetes_version"
EXTENDED_SUPPORT_COSTS = "six times as much"
"""Compared with the standard price of a cluster. https://aws.amazon.com/eks/pricing/"""


def review_version(architecture: EksArchitecture, now: datetime, review: Review) -> None:
    """Refuse a version without pins; note standard support that has ended or ends soon."""
    version, today = architecture.kubernetes_version, now.date()
    newer = next_version(version)
    if version not in EKS_VERSIONS:
        ended = (
            f"has been out of EKS's standard support{since(version)}, and "
            if standard_support_ended(version, today)
            else ""
        )
        review.refuse(
            KEY,
            f"{ended}is a version for which no AMI and add-ons are pinned (`catalog/versions.py`)",
            found=version,
            allowed=", ".join(EKS_VERSIONS),
            remedy=review.set_command(KEY, newer or newest_version()),
            rules=("H5",),
        )
        return
    way = f"upgrade with `{review.set_command(KEY, newer)}`" if newer else "none is newer yet"
    if standard_support_ended(version, today):
        review.note(
            f"Kubernetes {version} has been out of EKS's standard support{since(version)}: a "
            f"cluster of it costs {EXTENDED_SUPPORT_COSTS}, EKS upgrades it twelve months after "
            f"that day, and `up` creates no new one; {way} (docs/upgrades.md)"
        )
    elif (ends := standard_support_ends_soon(version, today)) is not None:
        days = (ends - today).days
        review.note(
            f"Kubernetes {version} leaves EKS's standard support on {ends.isoformat()}, in {days} "
            f"{'day' if days == 1 else 'days'}: from then on the cluster costs "
            f"{EXTENDED_SUPPORT_COSTS}, and `up` creates no new one of this version; {way} "
            "(docs/upgrades.md)"
        )


def since(version: str) -> str:
    """Return ` since 2026-12-02` for a version whose day is known, or nothing."""
    ends = STANDARD_SUPPORT_ENDS.get(version)
    return f" since {ends.isoformat()}" if ends else ""


def newest_version() -> str:
    """Return the newest pinned version."""
    return max(EKS_VERSIONS, key=minor_number)


def next_version(version: str) -> str | None:
    """Return the next pinned version to upgrade to, or None if `version` is the newest.

    EKS upgrades one minor version at a time:
    https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html
    """
    newer = [each for each in EKS_VERSIONS if minor_number(each) > minor_number(version)]
    return min(newer, key=minor_number, default=None)


def versions_of_new_clusters(today: date) -> list[str]:
    """Return the pinned versions in standard support, oldest first."""
    supported = (each for each in EKS_VERSIONS if not standard_support_ended(each, today))
    return sorted(supported, key=minor_number)


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


# The log group of a control plane.
#
# Sources:
#     https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html
#     https://docs.aws.amazon.com/eks/latest/userguide/view-cluster-logs.html: the name of the group


NEW_RETENTION_DAYS = 90
"""As in terraform-aws-eks: `cloudwatch_log_group_retention_in_days` in its `variables.tf`."""


def control_plane_log_group(cluster_name: str) -> str:
    """Return the name of the log group of a control plane."""
    return f"/aws/eks/{cluster_name}/cluster"


def plan_log_group(config: EksStackConfig, adopted: Mapping[str, int]) -> LogGroupPlan | None:
    """Return the log group of the control plane, or None if it sends no logs.

    Args:
        config: The stack file.
        adopted: Days to keep the events of groups that the stack adopts, by name.
    """
    architecture, name = config.architecture, control_plane_log_group(config.name)
    if not architecture.log_types:
        return None
    wanted = architecture.log_retention_days
    return LogGroupPlan(
        name=name,
        retention_days=adopted.get(name, NEW_RETENTION_DAYS) if wanted is None else wanted,
        adopted=name in adopted,
    )


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
