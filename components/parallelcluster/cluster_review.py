"""Checks of a ParallelCluster stack beyond its schema."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from trainyard.components.capacity.schedule import minutes_before_end
from trainyard.components.catalog.open_zfs import REGIONS_WITHOUT
from trainyard.components.catalog.parallelcluster import (
    CAPACITY_BLOCK_UNSUPPORTED_REGIONS,
    MAXIMUM_TAGS,
    NAME_LIMIT,
    NAME_PATTERN,
    OPERATING_SYSTEMS_WITHOUT_AMI,
    REGIONS,
    RESERVED_TAG_PREFIX,
    TYPICAL_CREATION_MINUTES,
    TYPICAL_FILE_SYSTEM_MINUTES,
)
from trainyard.components.config.network import NewVpc
from trainyard.components.config.parallelcluster import (
    HeadNode,
    ParallelClusterArchitecture,
    ParallelClusterStackConfig,
)
from trainyard.components.config.problems import Review
from trainyard.components.config.reservations import CapacityBlock
from trainyard.components.config.stack_review import remove_tags, review_tags
from trainyard.components.config.storage import THROUGHPUTS_MBPS, NewFsxOpenZfs
from trainyard.components.named.derived_names import has_flow_logs, review_names
from trainyard.components.network.vpc_review import review_existing_vpc, review_new_vpc
from trainyard.components.parallelcluster.node_metrics import metrics_endpoints, note_ssm_agent
from trainyard.components.parallelcluster.node_scripts import review_pyxis
from trainyard.components.tagging import common_tags

# ParallelCluster requirements for a new VPC, except its addresses.
#
# Source:
# https://docs.aws.amazon.com/parallelcluster/latest/ug/aws-parallelcluster-in-a-single-public-subnet-no-internet-v3.html


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


# Checks of a ParallelCluster stack beyond its schema.
#
# Names in parentheses are validators of ParallelCluster.


def review_cluster(
    config: ParallelClusterStackConfig, region: str, now: datetime, review: Review
) -> None:
    """Record problems of name, region, network, tags, operating system and deployment."""
    _review_name(config, review)
    _review_region(config, region, review)
    _review_cluster_tags(config, review)
    if isinstance(config.network, NewVpc):
        review_new_vpc(config.network, region, review)
        review_cluster_network(
            config.network,
            config.architecture.head_node,
            review,
            more_endpoints=metrics_endpoints(config),
        )
    else:
        review_existing_vpc(config.network, review)
    _review_image(config.architecture, review)
    review_pyxis(config, review)
    _review_deployment(config.architecture, review)
    _note_open_zfs(config, region, review)
    _note_capacity(config, now, review)
    _note_timeout(config, review)
    _note_monitoring(config, review)
    note_ssm_agent(config, review)


def _review_name(config: ParallelClusterStackConfig, review: Review) -> None:
    name = config.name
    if has_flow_logs(config):
        review_names(config, review)  # the role has a lower limit than the cluster
    elif len(name) > NAME_LIMIT:
        review.refuse(
            "name",
            "is too long: ParallelCluster limits it (ClusterNameValidator)",
            found=name,
            allowed=f"at most {NAME_LIMIT} characters",
            remedy=review.set_command("name", name[:NAME_LIMIT].rstrip("-")),
            rules=("E17",),
        )
    if re.fullmatch(NAME_PATTERN, name) is None:
        review.refuse(
            "name",
            "is not a valid cluster name (ClusterNameValidator)",
            found=name,
            allowed="letters, digits and hyphens, beginning with a letter",
            remedy=review.set_command("name", "pc-" + re.sub(r"[^a-zA-Z0-9]+", "-", name)),
            rules=("E17",),
        )


def _review_region(config: ParallelClusterStackConfig, region: str, review: Review) -> None:
    if region not in REGIONS:
        review.refuse(
            "architecture.kind",
            f"is not supported in the stack's region, {region} (RegionValidator)",
            found="parallelcluster",
            allowed=f"one of {', '.join(sorted(REGIONS))}",
            remedy="change `aws:region`",
        )
    for name, reservation in config.reservations.items():
        block = isinstance(reservation, CapacityBlock)
        if block and region.startswith(CAPACITY_BLOCK_UNSUPPORTED_REGIONS):
            review.refuse(
                f"reservations.{name}.kind",
                f"is not supported by ParallelCluster in {region} (FeatureRegionValidator)",
                found=reservation.kind,
                allowed="odcr, odcr-group",
                remedy="use an On-Demand Capacity Reservation, or change `aws:region`",
            )


def _note_open_zfs(config: ParallelClusterStackConfig, region: str, review: Review) -> None:
    for name, wanted in config.storage.items():
        if not isinstance(wanted, NewFsxOpenZfs):
            continue
        chosen = wanted.deployment_type
        if region in REGIONS_WITHOUT.get(chosen, ()):
            others = [t for t in THROUGHPUTS_MBPS if region not in REGIONS_WITHOUT.get(t, ())]
            review.note(
                f"storage.{name}: AWS does not list {chosen} of FSx for OpenZFS in {region}; the "
                f"creation can fail. Listed there: {', '.join(others)}"
            )


def _review_cluster_tags(config: ParallelClusterStackConfig, review: Review) -> None:
    review_tags(config.tags, review)
    for key, value in config.tags.items():
        if not value:
            # https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_Tag.html
            review.refuse(
                "tags",
                "has a tag without a value, which CloudFormation refuses for a stack",
                found=f"{key}=",
                allowed="1 to 256 characters",
                remedy="give the tag a value, or remove it",
            )
        if key.startswith(RESERVED_TAG_PREFIX):
            review.refuse(
                "tags",
                (
                    f"has a tag that begins with `{RESERVED_TAG_PREFIX}`, which ParallelCluster "
                    "reserves"
                ),
                found=key,
                remedy="rename the tag",
            )
    own = len(common_tags(config.name, {})) + (config.node_metrics is not None)
    if len(config.tags) + own > MAXIMUM_TAGS:
        review.refuse(
            "tags",
            "has more tags than ParallelCluster supports (ComputeResourceTagsValidator)",
            found=len(config.tags),
            allowed=f"at most {MAXIMUM_TAGS - own}",
            remedy=remove_tags(config.tags, MAXIMUM_TAGS - own, review),
        )


def _review_image(architecture: ParallelClusterArchitecture, review: Review) -> None:
    system = architecture.operating_system
    if system in OPERATING_SYSTEMS_WITHOUT_AMI and architecture.custom_ami_id is None:
        review.refuse(
            "architecture.custom_ami_id",
            f"is missing: ParallelCluster publishes no AMI for {system} (OsCustomAmiValidator)",
            allowed="an AMI built by `pcluster build-image`",
            remedy=review.set_command("architecture.custom_ami_id", "ami-…"),
        )


def _review_deployment(architecture: ParallelClusterArchitecture, review: Review) -> None:
    deployment, key = architecture.deployment, "architecture.deployment"
    if deployment.provider_service_token is None:
        return
    if deployment.provider_template_url is not None:
        review.refuse(
            f"{key}.provider_template_url",
            (
                "is given together with `provider_service_token`; an existing provider needs no "
                "template"
            ),
            found=deployment.provider_template_url,
            allowed="one of the two",
            remedy="remove one of the two",
        )


def _note_capacity(config: ParallelClusterStackConfig, now: datetime, review: Review) -> None:
    for name, queue in config.architecture.queues.items():
        for resource_name, resource in queue.compute_resources.items():
            option = resource.purchase_option or queue.purchase_option
            if resource.minimum and option in {"on-demand", "spot"}:
                review.note(
                    f"compute resource {name}/{resource_name}: its {resource.minimum} static nodes "
                    "have no reservation; if EC2 has no capacity for them, the creation of the "
                    "cluster fails after 35 minutes (HeadNodeWaitCondition)"
                )
    for name, reservation in config.used_reservations().items():
        if isinstance(reservation, CapacityBlock):
            instance_type = config.pools_with(name)[0].instance_type
            _note_block(name, reservation, instance_type, now, review)


def _note_block(
    name: str, block: CapacityBlock, instance_type: str, now: datetime, review: Review
) -> None:
    """Note when nodes start and stop.

    https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-capacity-blocks.html
    """
    if block.starts_at is not None and now < block.starts_at:
        review.note(
            f"reservation {name}: the Capacity Block starts at {block.starts_at:%Y-%m-%d %H:%M} "
            "UTC; the cluster is created without its nodes, which launch at that time"
        )
    if block.ends_at is not None and now < block.ends_at:
        _, terminated = minutes_before_end(instance_type)
        review.note(
            f"reservation {name}: the Capacity Block ends at {block.ends_at:%Y-%m-%d %H:%M} UTC; "
            f"EC2 begins to terminate its nodes {terminated} earlier"
        )


def _note_timeout(config: ParallelClusterStackConfig, review: Review) -> None:
    """Note a timeout that is shorter than what AWS typically takes."""
    timeout = config.architecture.deployment.timeout_minutes
    new = any(each.kind == "fsx-lustre" for each in config.storage.values())
    typical = TYPICAL_CREATION_MINUTES + (TYPICAL_FILE_SYSTEM_MINUTES if new else 0)
    if timeout < typical:
        with_lustre = " with its file system" if new else ""
        review.note(
            f"architecture.deployment.timeout_minutes: a cluster{with_lustre} typically takes "
            f"{typical} minutes, and CloudFormation deletes one that takes more than {timeout}"
        )


def _note_monitoring(config: ParallelClusterStackConfig, review: Review) -> None:
    own = config.architecture.monitoring
    if config.monitoring is None:
        return
    if not own.logs:
        review.note(
            "monitoring: without logs of the cluster, there are no metrics of nodes, of Xid errors "
            "and of the head node; turn them on: "
            f"{review.set_command('architecture.monitoring.logs', 'true')}"
        )
    elif not own.dashboard:
        review.note(
            "monitoring: ParallelCluster counts faults of nodes only with its own dashboard; turn "
            f"it on: {review.set_command('architecture.monitoring.dashboard', 'true')}"
        )
