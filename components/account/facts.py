"""Facts about an AWS account that the checks need, as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from ipaddress import IPv4Network
from typing import Any, Literal

from trainyard.components.account.named_facts import (
    Found,
    ImageFacts,
    NamedFacts,
    PublicImageFacts,
    VolumeFacts,
)
from trainyard.components.account.reservation_states import LATER
from trainyard.components.account.vpc_layout import VpcLayout
from trainyard.components.network.network_plan import RESERVED_ADDRESSES

DefaultRoute = Literal["internet-gateway", "nat", "other", "none"]
"""Target of the route 0.0.0.0/0 of a subnet: `nat` is a NAT gateway or instance, `other` a transit
gateway, a firewall or similar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneFacts:
    """A zone that is enabled in the account."""

    name: str
    """Such as `us-west-2b`; maps to different zones in different accounts."""
    zone_id: str
    """Such as `usw2-az2`."""
    kind: str
    """EC2 value: `availability-zone`, `local-zone` or `wavelength-zone`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VpcFacts:
    """An existing VPC."""

    vpc_id: str
    dns_support: bool
    dns_hostnames: bool
    endpoint_services: frozenset[str]
    """Last parts of the service names of its endpoints, such as `ecr.dkr`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubnetFacts:
    """An existing subnet."""

    subnet_id: str
    vpc_id: str
    availability_zone: str
    zone_id: str
    cidr: IPv4Network
    free_addresses: int
    default_route: DefaultRoute
    maps_public_addresses: bool = True
    """`MapPublicIpOnLaunch`."""

    @property
    def usable_addresses(self) -> int:
        """Number of assignable addresses."""
        return self.cidr.num_addresses - RESERVED_ADDRESSES


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationFacts:
    """An existing capacity reservation: an ODCR or a Capacity Block."""

    reservation_id: str
    kind: Literal["odcr", "capacity-block"]
    """`ReservationType`: `default` is an ODCR."""
    instance_type: str
    availability_zone: str
    zone_id: str
    state: str
    """`CapacityReservationState`: `active`, `scheduled`, `expired` …"""
    instance_count: int
    """Instances that it has, or will have, as `answers.instance_count` determines it."""
    owner_id: str
    platform: str
    placement_group: str | None
    """Name of the placement group of the reservation."""
    starts_at: datetime | None
    ends_at: datetime | None
    arn: str = ""
    placement_group_owner_id: str | None = None
    """Account that owns the group; None without a group."""
    available_count: int | None = None
    """`AvailableInstanceCount`: how many more instances can launch now; None if unknown."""
    interruptible: bool = False
    """Whether its owner can take the instances back (`Interruptible`)."""
    source_id: str | None = None
    """Of an interruptible reservation: the one that its instances come from. Only its owner sees
    it."""
    lent_to: str | None = None
    """The interruptible reservation that has taken instances from this one."""
    committed_until: datetime | None = None
    """End of the commitment of a future-dated ODCR."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def known_count(self) -> int | None:
        """`instance_count`; None of a Capacity Block that shows no number before its start."""
        is_unknown = self.kind == "capacity-block" and self.state in LATER
        return self.instance_count or (None if is_unknown else 0)


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
class IngressFacts:
    """One ingress or egress rule of a security group."""

    protocol: str
    """`tcp`, or `-1` for all."""
    first_port: int
    last_port: int
    cidr: str | None
    """IPv4 CIDR block, or None for a rule with a security group or prefix list."""
    peer_group_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultGroupFacts:
    """The default security group of a VPC."""

    group_id: str
    lets_in: tuple[IngressFacts, ...]
    lets_out: tuple[IngressFacts, ...]


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
    targets: tuple[MountTargetFacts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPairFacts:
    """The key pair of an existing head node."""

    name: str
    public_key: str
    """Content of the public key file, with or without a comment."""
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddonOffer:
    """Versions of an EKS add-on that EKS offers for the stack's Kubernetes version."""

    versions: tuple[str, ...]
    """Newest first, in the order of EKS."""
    default: str | None


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
    named: NamedFacts = field(default_factory=dict[tuple[str, str], "Found | None"])
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
