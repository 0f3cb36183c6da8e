"""Facts about an AWS account, as plain records: what the checks need, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from ipaddress import IPv4Network
from typing import Any, Literal

from components.network.network_plan import RESERVED_ADDRESSES

DefaultRoute = Literal["internet-gateway", "nat", "other", "none"]
"""Where a subnet sends 0.0.0.0/0: `nat` is a NAT gateway or instance, `other` a transit gateway,
a firewall or the like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneFacts:
    """A zone that the account may use."""

    name: str
    """Such as `us-west-2b`; which zone it is differs between accounts."""
    zone_id: str
    """Such as `usw2-az2`."""
    kind: str
    """As EC2 spells it: `availability-zone`, `local-zone` or `wavelength-zone`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VpcFacts:
    """A VPC that exists."""

    vpc_id: str
    dns_support: bool
    dns_hostnames: bool
    endpoint_services: frozenset[str]
    """Last parts of the names of services that have an endpoint here, such as `ecr.dkr`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubnetFacts:
    """A subnet that exists."""

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
        """Addresses that interfaces can ever take here."""
        return self.cidr.num_addresses - RESERVED_ADDRESSES


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationFacts:
    """A capacity reservation that exists: an ODCR or a Capacity Block."""

    reservation_id: str
    kind: Literal["odcr", "capacity-block"]
    """`ReservationType`: `default` is an ODCR."""
    instance_type: str
    availability_zone: str
    zone_id: str
    state: str
    """`CapacityReservationState` as EC2 spells it: `active`, `scheduled`, `expired` …"""
    instance_count: int
    """`TotalInstanceCount`."""
    owner_id: str
    platform: str
    placement_group: str | None
    """Name of the group it was made in."""
    starts_at: datetime | None
    ends_at: datetime | None
    arn: str = ""
    placement_group_owner_id: str | None = None
    """Account whose group that is; None without a group."""
    available_count: int | None = None
    """`AvailableInstanceCount`: how many more could launch at this moment; None where not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """An EKS cluster that exists already."""

    name: str
    status: str
    """As EKS spells it: `ACTIVE`, `UPDATING`, `DELETING` …"""
    kubernetes_version: str
    authentication_mode: str
    """`CONFIG_MAP`, `API_AND_CONFIG_MAP` or `API`."""
    secrets_key_arn: str | None = None
    """KMS key of the user's own that encrypts secrets."""
    access_entries: Mapping[str, str] = field(default_factory=dict[str, str])
    """Types of the access entries (`STANDARD`, `EC2_LINUX` …) by ARN of the principal. Empty in
    the mode `CONFIG_MAP`, which has none; the type is empty where it may not be read."""
    node_role_arns: frozenset[str] = frozenset()
    """Roles of the managed node groups, which EKS itself lets in."""
    addon_versions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Versions of the add-ons, by name."""
    node_group_versions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Kubernetes versions of the managed node groups, by name."""
    node_group_sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Desired sizes of the managed node groups, by name."""
    aws_auth: Mapping[str, str] | None = None
    """Data of the ConfigMap `kube-system/aws-auth`; empty where there is no ConfigMap, None where
    it was not read."""

    @property
    def access_entry_arns(self) -> frozenset[str]:
        """Principals that have an access entry."""
        return frozenset(self.access_entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class IngressFacts:
    """One thing that a security group lets in, or out."""

    protocol: str
    """`tcp`, or `-1` for all."""
    first_port: int
    last_port: int
    cidr: str | None
    """IPv4 network, or None where another group or a prefix list is the peer."""
    peer_group_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultGroupFacts:
    """The default security group of a VPC."""

    group_id: str
    lets_in: tuple[IngressFacts, ...]
    lets_out: tuple[IngressFacts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSystemFacts:
    """An FSx file system that exists."""

    file_system_id: str
    type: str
    """`LUSTRE`, `OPENZFS`, `ONTAP` or `WINDOWS`."""
    lifecycle: str
    """As FSx spells it: `AVAILABLE`, `CREATING`, `UPDATING` …"""
    vpc_id: str
    subnet_id: str
    availability_zone: str
    """Name; empty where it could not be read."""
    dns_name: str
    mount_name: str
    capacity_gib: int
    settings: Mapping[str, object]
    """What cannot be changed, by its key in the stack file."""
    tags: Mapping[str, str]
    security_group_ids: frozenset[str]
    lets_in: tuple[IngressFacts, ...]
    """By all its security groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MountTargetFacts:
    """Where an EFS file system is reached in one zone."""

    vpc_id: str
    availability_zone: str
    """Name."""
    security_group_ids: frozenset[str]
    lets_in: tuple[IngressFacts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EfsFacts:
    """An EFS file system that exists."""

    file_system_id: str
    targets: tuple[MountTargetFacts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeFacts:
    """An EBS volume that exists."""

    volume_id: str
    state: str
    """As EC2 spells it: `available`, `in-use` …"""
    availability_zone: str
    """Name."""
    attached_to: str | None
    """Id of the instance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPairFacts:
    """The key pair of a head node that exists."""

    name: str
    public_key: str
    """As its file has it, with or without a comment."""
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFacts:
    """A machine image that exists."""

    image_id: str
    state: str
    """As EC2 spells it: `available`, `pending`, `failed` …"""
    architecture: str
    """`x86_64` or `arm64`."""
    root_volume_gib: int
    """Size of the snapshot of its root volume; 0 where it has none."""
    tags: Mapping[str, str]
    platform: str = ""
    """`PlatformDetails`, such as `Linux/UNIX`; empty where it is not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddonOffer:
    """The versions of an EKS add-on that fit the stack's Kubernetes version."""

    versions: tuple[str, ...]
    """Newest first, as EKS lists them."""
    default: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFacts:
    """What could be read of an account. An id that is asked for and missing does not exist."""

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
    zones: tuple[ZoneFacts, ...] = ()
    """Zones of the region, where the stack makes a VPC; empty where they were not read."""
    key_pairs: Mapping[str, str] = field(default_factory=dict[str, str])
    """Types (`rsa`, `ed25519`) of the key pairs that the stack file names and that exist."""
    images: Mapping[str, ImageFacts] = field(default_factory=dict[str, ImageFacts])
    """By id: the images that the stack file names."""
    offered_zone_ids: Mapping[str, frozenset[str]] = field(
        default_factory=dict[str, frozenset[str]]
    )
    """Zone ids of the region that offer an instance type, by type."""
    cluster: ClusterFacts | None = None
    """The stack's cluster; None where it does not exist yet, or cannot be read."""
    file_systems: Mapping[str, FileSystemFacts] = field(default_factory=dict[str, FileSystemFacts])
    """By id: those that the stack file names, and those that carry the stack's tag."""
    efs: Mapping[str, EfsFacts] = field(default_factory=dict[str, EfsFacts])
    """By id: the EFS file systems that the stack file names."""
    open_zfs: Mapping[str, FileSystemFacts] = field(default_factory=dict[str, FileSystemFacts])
    """By id of each OpenZFS volume that the stack file names: its file system."""
    volumes: Mapping[str, VolumeFacts] = field(default_factory=dict[str, VolumeFacts])
    """By id: the EBS volumes that the stack file names."""
    addon_offers: Mapping[str, AddonOffer] = field(default_factory=dict[str, AddonOffer])
    """By the name of each add-on whose version the stack file chooses."""
    default_group: DefaultGroupFacts | None = None
    """That of the VPC; None where nothing of the stack is in it, or it was not read."""
    deployed_cluster: Mapping[str, Any] | None = None
    """Configuration of the ParallelCluster cluster that the stack has made, in ParallelCluster's
    own words; None where there is none yet."""
    deployed_key: KeyPairFacts | None = None
    """Key pair of its head node; None without one, and where the stack imports none."""
    fleet_stopped: bool = False
    """Whether somebody has stopped its compute fleet."""
    unreadable: tuple[str, ...] = ()
    """Calls that the caller may not make, each with AWS's reason; what they would have said is
    not checked."""

    def zone(self, name_or_id: str) -> ZoneFacts | None:
        """Return a zone by name or by id; None where the region has none such, or nobody knows."""
        return next((z for z in self.zones if name_or_id in (z.name, z.zone_id)), None)

    def could_read(self, call: str) -> bool:
        """Whether an answer to `call` (`ec2:DescribeSubnets`) is in these facts."""
        return not any(line.startswith(call) for line in self.unreadable)
