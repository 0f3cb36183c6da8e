"""Facts about an account that only the preflight needs, as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeFacts:
    """An instance type, from EC2 in this region."""

    efa_interfaces: int
    """`EfaInfo.MaximumEfaInterfaces`; 0 without EFA."""
    network_cards: int
    """`MaximumNetworkCards`."""
    placement_strategies: frozenset[str]
    """`PlacementGroupInfo.SupportedStrategies`."""
    usage_classes: frozenset[str]
    """`SupportedUsageClasses`: `on-demand`, `spot`, `capacity-block`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationFacts:
    """An invitation of AWS RAM to a resource share of another account."""

    share_arn: str
    share_name: str
    sender_id: str
    status: str
    """`PENDING`, `ACCEPTED`, `REJECTED` or `EXPIRED`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFacts:
    """The support status of a Kubernetes version in EKS."""

    status: str
    """`STANDARD_SUPPORT`, `EXTENDED_SUPPORT` or `UNSUPPORTED`."""
    standard_support_ends: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UltraserverFacts:
    """The health of an UltraServer, as EC2 reports it of its Capacity Block."""

    interconnect: str
    """`InterconnectStatus`: `ok`, `impaired` or `insufficient-data`."""
    instances: int
    """`TotalCapacity`."""
    unavailable: int
    """`TotalUnavailableCapacity`: instances that fail a system status check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreflightFacts:
    """Facts that could be read. A requested key that is missing does not exist."""

    caller_arn: str = ""
    instance_types: Mapping[str, TypeFacts] = field(default_factory=dict[str, TypeFacts])
    """Instance types of the nodes, by name."""
    quotas_vcpus: Mapping[str, float] = field(default_factory=dict[str, float])
    """vCPU quotas, by quota code."""
    invitations: tuple[InvitationFacts, ...] = ()
    ultraservers: Mapping[str, UltraserverFacts] = field(
        default_factory=dict[str, UltraserverFacts]
    )
    """UltraServers of the account that have started, by the ids of their reservations."""
    role_names: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Existing service-linked roles among the requested ones, by name; always True."""
    kubernetes_versions: Mapping[str, VersionFacts] = field(default_factory=dict[str, VersionFacts])
    """By version."""
    unreadable: tuple[str, ...] = ()
    """Calls that were denied, each with the reason from AWS."""

    def why_not(self, *calls: str) -> str | None:
        """Return the reason from AWS if one of the calls was denied, else None."""
        return why_not(self.unreadable, *calls)


def why_not(unreadable: tuple[str, ...], *calls: str) -> str | None:
    """Return the entry of the first of the calls that was denied, else None."""
    return next((line for line in unreadable if line.partition(": ")[0] in calls), None)
