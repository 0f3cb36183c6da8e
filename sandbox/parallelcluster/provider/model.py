"""A cluster as the stand-in makes it: what is launched where, with nothing left to decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What head node and compute nodes have in common."""

    instance_type: str
    image_id: str
    subnet_id: str
    security_groups: tuple[str, ...]
    """Groups that the configuration names in place of the cluster's own; empty: the own one."""
    additional_security_groups: tuple[str, ...]
    root_volume: Mapping[str, Any]
    """`Ebs` of the root volume's block device, in EC2's words; empty: as the image says."""
    interfaces: tuple[Mapping[str, Any], ...]
    """`NetworkInterfaces` of the launch without groups and subnet."""
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadNode(Node):
    """The head node."""

    key_name: str | None
    allowed_ips: str
    """Where SSH may come from."""
    elastic_ip: bool | str
    """True: one is made; text: an allocation that exists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeNodes(Node):
    """The nodes of one compute resource."""

    queue: str
    name: str
    static_count: int
    """Nodes that always run."""
    launch: Mapping[str, Any]
    """Market and reservation of the launch, in EC2's words."""
    placement_group: str | None
    makes_placement_group: bool
    """Whether the placement group is the cluster's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedStorage:
    """A file system or volume that the cluster makes."""

    kind: str
    """`fsx`, `efs` or `ebs`."""
    name: str
    is_retained: bool
    """Whether it outlives the cluster."""
    settings: Mapping[str, Any]
    """Arguments of the call that makes it, in AWS's words."""
    subnet_ids: tuple[str, ...]
    """Where it is reached, at most one of a zone; none for volumes."""
    associations: tuple[Mapping[str, Any], ...] = ()
    """Links of a file system for Lustre to S3, in FSx's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A whole cluster."""

    name: str
    vpc_id: str
    head_node: HeadNode
    compute: tuple[ComputeNodes, ...]
    storage: tuple[SharedStorage, ...]
    tags: Mapping[str, str]
    """On everything of the cluster."""
    has_log_group: bool = False
    """Whether its logs go to CloudWatch."""
