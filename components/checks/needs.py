"""What an architecture needs of an account, for checks that all architectures share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeNeeds:
    """Requirements of an architecture's nodes on their VPC, and the effect if they are not met."""

    dns: str
    """What fails without DNS resolution in the VPC."""
    registry: str
    """What nodes cannot reach without egress, apart from the internet."""
    endpoints: frozenset[str]
    """Services whose endpoints replace internet access."""
    closed: str
    """What fails without both."""
    endpoint_owner: str
    """What needs the endpoints, for messages."""


@dataclass(frozen=True, slots=True)
class ServiceRole:
    """A service-linked role and its purpose."""

    name: str
    service: str
    """Service name for `iam:CreateServiceLinkedRole`."""
    key: str
    """Key of the stack file that needs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchitectureNeeds:
    """Needs of one architecture."""

    nodes: NodeNeeds | None
    """None for a network stack, which has no nodes."""
    zone_users: str
    """What needs a zone of the region itself, for messages."""
    excluded_zones: frozenset[str] = frozenset()
    """Ids of zones that the architecture cannot use."""
    places_file_systems: bool = False
    """Whether the program places new Lustre file systems and mounts existing ones.

    ParallelCluster does both itself."""
    quotas: tuple[str, ...] = ()
    """Quotas that its resources count towards, by name in `trainyard.components.catalog.quotas`."""
    service_roles: tuple[ServiceRole, ...] = ()
    """Service-linked roles that AWS creates when they are first needed."""
