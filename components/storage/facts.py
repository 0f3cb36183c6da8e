"""File systems and volumes in an account, as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trainyard.components.network.facts import IngressFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeFacts:
    """An existing EBS volume."""

    volume_id: str
    state: str
    """EC2 value: `available`, `in-use` …"""
    availability_zone: str
    """Name."""
    attached_to: str | None
    """Instance id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSystemFacts:
    """An existing FSx file system."""

    file_system_id: str
    type: str
    """`LUSTRE`, `OPENZFS`, `ONTAP` or `WINDOWS`."""
    lifecycle: str
    """FSx value: `AVAILABLE`, `CREATING`, `UPDATING` …"""
    vpc_id: str
    subnet_id: str
    availability_zone: str
    """Name; empty if it could not be read."""
    dns_name: str
    mount_name: str
    capacity_gib: int
    settings: Mapping[str, object]
    """Immutable settings, by key in the stack file."""
    tags: Mapping[str, str]
    security_group_ids: frozenset[str]
    lets_in: tuple[IngressFacts, ...]
    """Ingress rules of all its security groups."""
    version: str = ""
    """`FileSystemTypeVersion`, such as `2.15`; empty if it has none."""
    root_squash: str = ""
    """`RootSquash` of Lustre, the ids that root of a client gets; empty if it keeps its own."""
    volume_lifecycle: str = "AVAILABLE"
    """FSx value of the OpenZFS volume in the stack file."""
    exported_to: tuple[str, ...] | None = None
    """Clients that may mount the OpenZFS volume: addresses, CIDR blocks or `*`; None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MountTargetFacts:
    """A mount target of an EFS file system."""

    vpc_id: str
    availability_zone: str
    """Name."""
    security_group_ids: frozenset[str]
    lets_in: tuple[IngressFacts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EfsFacts:
    """An existing EFS file system."""

    file_system_id: str
    lifecycle: str = "available"
    """`LifeCycleState`: `creating`, `available`, `updating` …"""
    targets: tuple[MountTargetFacts, ...]
