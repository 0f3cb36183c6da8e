"""EKS clusters, and what EKS offers, as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFacts:
    """The support status of a Kubernetes version in EKS."""

    status: str
    """`STANDARD_SUPPORT`, `EXTENDED_SUPPORT` or `UNSUPPORTED`."""
    standard_support_ends: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """An existing EKS cluster."""

    name: str
    status: str
    """EKS value: `ACTIVE`, `UPDATING`, `DELETING` …"""
    kubernetes_version: str
    authentication_mode: str
    """`CONFIG_MAP`, `API_AND_CONFIG_MAP` or `API`."""
    upgraded_at: datetime | None = None
    """When EKS began the upgrade to `kubernetes_version`. Read only if the stack has an older
    version; None if EKS lists no such update."""
    support_type: str = "EXTENDED"
    """Upgrade policy: `EXTENDED`, or `STANDARD`, with which EKS upgrades the cluster when standard
    support ends."""
    secrets_key_arn: str | None = None
    """Customer managed KMS key that encrypts secrets."""
    access_entries: Mapping[str, str] = field(default_factory=dict[str, str])
    """Types of the access entries (`STANDARD`, `EC2_LINUX` …) by ARN of the principal. Empty in the
    mode `CONFIG_MAP`; a type is empty if it cannot be read."""
    node_role_arns: frozenset[str] = frozenset()
    """Roles of the managed node groups, which EKS authorizes itself."""
    addon_versions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Versions of the add-ons, by name."""
    node_group_versions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Kubernetes versions of the managed node groups, by name."""
    node_group_sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Desired sizes of the managed node groups, by name."""
    aws_auth: Mapping[str, str] | None = None
    """Data of the ConfigMap `kube-system/aws-auth`; empty without a ConfigMap, None if it was not
    read."""

    @property
    def access_entry_arns(self) -> frozenset[str]:
        """Principals with an access entry."""
        return frozenset(self.access_entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddonOffer:
    """Versions of an EKS add-on that EKS offers for the stack's Kubernetes version."""

    versions: tuple[str, ...]
    """Newest first, in the order of EKS."""
    default: str | None
