"""Facts about an AWS account that checks need, as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.components.capacity.facts import InvitationFacts, ReservationFacts, UltraserverFacts
from trainyard.components.compute.facts import ImageFacts, PublicImageFacts, TypeFacts
from trainyard.components.eks.facts import AddonOffer, ClusterFacts, VersionFacts
from trainyard.components.named.facts import Found, NamedFacts
from trainyard.components.network.facts import (
    DefaultGroupFacts,
    SubnetFacts,
    VpcFacts,
    VpcLayout,
    ZoneFacts,
)
from trainyard.components.storage.facts import EfsFacts, FileSystemFacts, VolumeFacts


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


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPairFacts:
    """The key pair of an existing head node."""

    name: str
    public_key: str
    """Content of the public key file, with or without a comment."""
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFacts:
    """Facts that could be read. A requested id that is missing does not exist."""

    account_id: str
    vpc: VpcFacts | None
    subnets: Mapping[str, SubnetFacts] = field(default_factory=dict[str, SubnetFacts])
    """By subnet id."""
    reservations: Mapping[str, ReservationFacts] = field(
        default_factory=dict[str, ReservationFacts]
    )
    """By reservation id."""
    reservation_groups: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]]
    )
    """Ids of the reservations in each resource group, by the group's ARN."""
    created_reservations: Mapping[str, str] = field(default_factory=dict[str, str])
    """Ids of the reservations that the stack has created, by entry of `reservations`."""
    zones: tuple[ZoneFacts, ...] = ()
    """Zones of the region, if the stack creates a VPC; empty if they were not read."""
    adopted_vpc: VpcLayout | None = None
    """The VPC that the stack adopts; None if it does not exist or was not read."""
    key_pairs: Mapping[str, str] = field(default_factory=dict[str, str])
    """Types (`rsa`, `ed25519`) of the existing key pairs in the stack file."""
    images: Mapping[str, ImageFacts] = field(default_factory=dict[str, ImageFacts])
    """AMIs in the stack file, by id."""
    pool_image_ids: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    """Ids of the AMIs that SSM parameters and names of Amazon's AMIs lead to, by `str` of the
    `ImageSource`; None if the region has none."""
    offered_zone_ids: Mapping[str, frozenset[str]] = field(
        default_factory=dict[str, frozenset[str]]
    )
    """Zone ids of the region that offer an instance type, by type."""
    cluster: ClusterFacts | None = None
    """Cluster of the stack; None if it does not exist or cannot be read."""
    file_systems: Mapping[str, FileSystemFacts] = field(default_factory=dict[str, FileSystemFacts])
    """File systems in the stack file or with the stack's tag, by id."""
    efs: Mapping[str, EfsFacts] = field(default_factory=dict[str, EfsFacts])
    """EFS file systems in the stack file, by id."""
    open_zfs: Mapping[str, FileSystemFacts] = field(default_factory=dict[str, FileSystemFacts])
    """File systems of the OpenZFS volumes in the stack file, by volume id."""
    volumes: Mapping[str, VolumeFacts] = field(default_factory=dict[str, VolumeFacts])
    """EBS volumes in the stack file, by id."""
    addon_offers: Mapping[str, AddonOffer] = field(default_factory=dict[str, AddonOffer])
    """Offers for each add-on that EKS installs, by name."""
    default_group: DefaultGroupFacts | None = None
    """Default group of the VPC; None if the stack does not use it or it was not read."""
    disabled_environments: tuple[str, ...] = ()
    """Names of the stack's disabled compute environments, if one is in a Capacity Block."""
    deployed_cluster: Mapping[str, Any] | None = None
    """ParallelCluster configuration of the deployed cluster; None if there is no cluster yet."""
    deployed_key: KeyPairFacts | None = None
    """Key pair of its head node; None without one, or if the stack imports none."""
    fleet_stopped: bool = False
    """Whether its compute fleet was stopped."""
    reservation_holders: Mapping[str, Mapping[str, tuple[str, ...]]] = field(
        default_factory=dict[str, Mapping[str, tuple[str, ...]]]
    )
    """Ids of this account's instances in reservations, by reservation and by owner. Read only for a
    ParallelCluster that is not deployed and whose static nodes need more than is available."""
    named: NamedFacts = field(default_factory=dict[tuple[str, str], Found | None])
    """Objects that the stack file names, and owners of names that the stack takes."""
    quota_values: Mapping[str, float] = field(default_factory=dict[str, float])
    """Applied quotas, by name in `trainyard.components.catalog.quotas`."""
    quota_use: Mapping[str, Mapping[str, float]] = field(
        default_factory=dict[str, Mapping[str, float]]
    )
    """What counts towards them and is not of this stack, by quota and scope."""
    public_images: Mapping[str, PublicImageFacts] = field(
        default_factory=dict[str, PublicImageFacts]
    )
    """Container images in public registries that the stack uses, by name."""
    unreadable: tuple[str, ...] = ()
    """Calls that were denied, each with the reason from AWS, and images that could not be looked
    up. Checks that need them are skipped."""
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """Why objects of the account are not in these facts, by object (`subnet subnet-0a…`)."""

    def zone(self, name_or_id: str) -> ZoneFacts | None:
        """Return a zone by name or id; None if it does not exist or zones were not read."""
        return next((z for z in self.zones if name_or_id in (z.name, z.zone_id)), None)

    def could_read(self, call: str) -> bool:
        """Whether these facts include the response to `call` (`ec2:DescribeSubnets`)."""
        return not any(line.startswith(call) for line in self.unreadable)
