"""A cluster as the emulation creates it, with all defaults resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """The common properties of head node and compute nodes."""

    instance_type: str
    image_id: str
    subnet_id: str
    security_groups: tuple[str, ...]
    """Groups in the configuration that replace the cluster's own; empty for the cluster's own."""
    additional_security_groups: tuple[str, ...]
    root_volume: Mapping[str, Any]
    """`Ebs` of the root volume's block device, with EC2's names; empty for the image's defaults."""
    interfaces: tuple[Mapping[str, Any], ...]
    """`NetworkInterfaces` of the launch without groups and subnet."""
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadNode(Node):
    """The head node."""

    key_name: str | None
    allowed_ips: str
    """Source of SSH connections."""
    elastic_ip: bool | str
    """True to create one; text for the id of an existing allocation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeNodes(Node):
    """The nodes of one compute resource."""

    queue: str
    name: str
    static_count: int
    """Nodes that always run."""
    launch: Mapping[str, Any]
    """Market and reservation of the launch, with EC2's field names."""
    placement_group: str | None
    makes_placement_group: bool
    """Whether the placement group is the cluster's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedStorage:
    """A file system or volume that the cluster creates."""

    kind: str
    """`fsx`, `efs` or `ebs`."""
    name: str
    is_retained: bool
    """Whether it is kept when the cluster is deleted."""
    settings: Mapping[str, Any]
    """Arguments of the call that creates it."""
    subnet_ids: tuple[str, ...]
    """Its subnets, at most one per zone; empty for volumes."""
    associations: tuple[Mapping[str, Any], ...] = ()
    """Links of a file system for Lustre to S3, with FSx's field names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A whole cluster."""

    name: str
    vpc_id: str
    head_node: HeadNode
    compute: tuple[ComputeNodes, ...]
    storage: tuple[SharedStorage, ...]
    tags: Mapping[str, str]
    """Tags of all parts of the cluster."""
    has_log_group: bool = False
    """Whether its logs are sent to CloudWatch."""
    keeps_logs: bool = True
    """Whether its log groups stay when it is deleted."""
    log_retention_days: int = 180


# The tags of a cluster's parts.
#
# Source: https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/constants.py and
# `templates/cdk_builder_utils.py` (`get_default_instance_tags`).


CLUSTER_NAME = "parallelcluster:cluster-name"
VERSION = "parallelcluster:version"
NODE_TYPE = "parallelcluster:node-type"
QUEUE_NAME = "parallelcluster:queue-name"
COMPUTE_RESOURCE_NAME = "parallelcluster:compute-resource-name"
HEAD_NODE = "HeadNode"
COMPUTE = "Compute"


def tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Return tags in the form of most AWS APIs."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def tagged(resource_type: str, tags: Mapping[str, str]) -> dict[str, Any]:
    """Return tags in the form of EC2's create calls."""
    return {"ResourceType": resource_type, "Tags": tag_list(tags)}


def of_cluster(name: str) -> list[dict[str, Any]]:
    """Return the filter for the EC2 resources of a cluster."""
    return [{"Name": f"tag:{CLUSTER_NAME}", "Values": [name]}]
