"""What only the preflight wants to know of an account, as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeFacts:
    """An instance type as EC2 describes it in this region."""

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
    """A Kubernetes version as EKS supports it."""

    status: str
    """`STANDARD_SUPPORT`, `EXTENDED_SUPPORT` or `UNSUPPORTED`."""
    standard_support_ends: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionFacts:
    """A Lambda function that exists."""

    state: str
    """`Active`, `Pending`, `Inactive` or `Failed`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreflightFacts:
    """What could be read. A key that was asked for and is missing does not exist."""

    caller_arn: str = ""
    instance_types: Mapping[str, TypeFacts] = field(default_factory=dict[str, TypeFacts])
    """By name: the types of the nodes."""
    quotas_vcpus: Mapping[str, float] = field(default_factory=dict[str, float])
    """Quotas of vCPUs, by code."""
    invitations: tuple[InvitationFacts, ...] = ()
    role_names: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Those of the service-linked roles asked for that exist, by name; True for each."""
    kubernetes_versions: Mapping[str, VersionFacts] = field(default_factory=dict[str, VersionFacts])
    """By version."""
    placement_groups: Mapping[str, str] = field(default_factory=dict[str, str])
    """State of each group asked for that exists, by name."""
    provider_functions: Mapping[str, FunctionFacts] = field(
        default_factory=dict[str, FunctionFacts]
    )
    """By ARN: the function of ParallelCluster's provider stack that the stack file names."""
    unreadable: tuple[str, ...] = ()
    """Calls that the caller may not make, each with AWS's reason."""

    def why_not(self, *calls: str) -> str | None:
        """Return AWS's reason where one of the calls could not be made, else None."""
        return why_not(self.unreadable, *calls)


def why_not(unreadable: tuple[str, ...], *calls: str) -> str | None:
    """Return the line of the first of the calls that could not be made, else None."""
    return next((line for line in unreadable if line.partition(": ")[0] in calls), None)
