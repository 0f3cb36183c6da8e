"""Facts about an AWS account that checks need, as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from ipaddress import IPv4Network
from typing import Any, Literal, TypeAlias

from trainyard.components.network.network_plan import RESERVED_ADDRESSES


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFacts:
    """An existing AMI."""

    image_id: str
    state: str
    """EC2 value: `available`, `pending`, `failed` …"""
    architecture: str
    """`x86_64` or `arm64`."""
    root_volume_gib: int
    """Size of the snapshot of its root volume; 0 without one."""
    tags: Mapping[str, str]
    platform: str = ""
    """`PlatformDetails`, such as `Linux/UNIX`; empty if unknown."""
    name: str = ""
    from_amazon: bool = False
    """Whether AWS publishes it: `ImageOwnerAlias` is `amazon`."""
    root_device: str = ""
    """`RootDeviceName`; empty if unknown."""


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
class PolicyFacts:
    """An existing IAM policy."""

    name: str
    """Name of an AWS managed policy with its path, which can differ from the requested path. For a
    customer managed policy, its ARN."""
    attachable: bool
    """`IsAttachable`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KmsKeyFacts:
    """An existing KMS key."""

    state: str
    """`KeyState`: `Enabled`, `Disabled`, `PendingDeletion` …"""
    usage: str
    """`KeyUsage`: `ENCRYPT_DECRYPT`, `SIGN_VERIFY` …"""
    spec: str
    """`KeySpec`: `SYMMETRIC_DEFAULT`, `RSA_4096` …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementGroupFacts:
    """An existing placement group."""

    state: str
    """`pending`, `available`, `deleting` or `deleted`."""
    strategy: str
    """`cluster`, `spread` or `partition`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketFacts:
    """An existing S3 bucket."""

    region: str
    """Empty if S3 does not report it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectFacts:
    """An existing object in S3."""

    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPointFacts:
    """An existing EFS access point."""

    file_system_id: str
    state: str
    """`LifeCycleState`: `available`, `creating`, `deleting` …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionFacts:
    """An existing Lambda function."""

    state: str
    """`Active`, `Pending`, `Inactive` or `Failed`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicImageFacts:
    """A container image in a public registry; it can be pulled if neither field is set."""

    missing: str | None = None
    """Why nodes cannot pull it, as the registry says."""
    unknown: str | None = None
    """Why it could not be looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerImageFacts:
    """An existing image in a repository of ECR."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicFacts:
    """An existing SNS topic."""

    publishers: frozenset[str]
    """Service principals that its policy allows to publish, such as `events.amazonaws.com`."""
    kms_key: str | None = None
    """Id, ARN or alias of the key that encrypts its messages; None without encryption."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceFacts:
    """An existing workspace of Amazon Managed Service for Prometheus."""

    status: str
    """`ACTIVE`, `CREATING`, `UPDATING`, `DELETING` or `CREATION_FAILED`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerFacts:
    """An existing object with a name that the stack takes for its own."""

    arn: str
    state: str = ""
    """Its state in the words of the service; empty if it has none."""
    tags: Mapping[str, str]
    """Its tags, which name the stack that created it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogGroupFacts(OwnerFacts):
    """An existing log group with a name that the stack takes for its own."""

    retention_days: int
    """Days that it keeps events; 0 is forever."""
    created_at: datetime


Found: TypeAlias = (
    PolicyFacts
    | KmsKeyFacts
    | PlacementGroupFacts
    | BucketFacts
    | ObjectFacts
    | AccessPointFacts
    | FunctionFacts
    | ContainerImageFacts
    | TopicFacts
    | WorkspaceFacts
    | OwnerFacts
)
NamedFacts: TypeAlias = Mapping[tuple[str, str], Found | None]
"""By kind and name: None if the object does not exist. Objects that could not be read are missing.
"""


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


# What the state of a capacity reservation means for the nodes that launch into it.
#
# EC2 launches instances only into a reservation that is `active`.
#
# Source: `state` in
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html, which has no
# words for `unavailable`: it is neither later nor over.


LATER = {
    "pending": "EC2 is still providing its instances",
    "payment-pending": "AWS has not processed its payment, which takes up to 12 hours",
    "assessing": "EC2 is assessing the request, and can still turn it down",
    "scheduled": "",
    "delayed": "EC2 could not deliver its instances at its start",
}
"""States before a reservation is active, with what the word does not tell."""
OVER = {
    "expired": "",
    "cancelled": "",
    "cancelling": "its instances are gone already, and the charge for its commitment goes on",
    "failed": "EC2 rejected the request",
    "payment-failed": "AWS has given its instances back",
    "unsupported": "EC2 does not have the instances, and will not deliver them",
}
"""States of a reservation that has no instances and gets none, with what the word does not tell."""
USABLE_STATES = {
    "odcr": frozenset({"active"}),
    "capacity-block": frozenset({"active", "scheduled"}),
}
"""States in which a stack can use a reservation, by its kind: nodes have a schedule for a block."""


def why_not_active(state: str, starts_at: datetime | None) -> str | None:
    """Return why EC2 launches no instance into a reservation, as a phrase; None if it is active.

    Args:
        state: Its state.
        starts_at: Its start, or the start that was asked for.
    """
    if state == "active":
        return None
    reason = f"it is {state_text(state)}"
    # The start of a delayed reservation has passed.
    if starts_at is not None and state in ("assessing", "scheduled", "payment-pending"):
        reason += f"; it starts at {starts_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return reason


def state_text(state: str) -> str:
    """Return a state with its meaning, if the word does not tell."""
    meaning = (LATER | OVER).get(state)
    return f"{state}: {meaning}" if meaning else state


# A VPC that a stack adopts, with everything in it that the stack would create, as plain records.
#
# Sources, https://docs.aws.amazon.com/AWSEC2/latest/APIReference/: API_Vpc.html, API_Subnet.html,
# API_RouteTable.html, API_NatGateway.html and API_VpcEndpoint.html.


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutSubnet:
    """A subnet."""

    cidr: str
    zone: str
    """Name."""
    zone_id: str
    table_id: str
    """Route table that is associated with it; empty if it uses the main one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutTable:
    """A route table."""

    default_route: str
    """Id of the target of the route 0.0.0.0/0, such as `nat-…`; empty without one."""
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutNat:
    """A NAT gateway that is not deleted."""

    subnet_id: str
    state: str
    """EC2 value: `pending`, `available` …"""
    kind: str
    """`ConnectivityType` and `AvailabilityMode`, such as `public zonal`."""
    allocation_ids: tuple[str, ...]
    """Its public addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutEndpoint:
    """An endpoint."""

    service: str
    """Last part of the service name, such as `s3`."""
    kind: str
    """EC2 value: `Gateway`, `Interface` …"""
    table_ids: frozenset[str]
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class VpcLayout:
    """A VPC and what is in it, by id."""

    vpc_id: str
    cidr: str
    secondary: Mapping[str, str]
    """Ids of the associations of secondary CIDR blocks, by block."""
    dns_support: bool
    dns_hostnames: bool
    tags: Mapping[str, str]
    internet_gateway_ids: tuple[str, ...]
    subnets: Mapping[str, LayoutSubnet]
    tables: Mapping[str, LayoutTable]
    nat_gateways: Mapping[str, LayoutNat]
    endpoints: Mapping[str, LayoutEndpoint]


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
