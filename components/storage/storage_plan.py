"""Plan the file systems in `storage` of a stack file, or record its problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trainyard.components.config.base import same_kind_of_zone
from trainyard.components.config.fsx_lustre import (
    DataRepository,
    ExistingFsxLustre,
    LustreDeploymentType,
    NewFsxLustre,
    StorageType,
    capacity_rule,
)
from trainyard.components.config.problems import Review
from trainyard.components.config.storage import FileSystem, NewFsxOpenZfs, OpenZfsDeploymentType
from trainyard.components.network.network_plan import NetworkPlan


def given_subnets(
    name: str,
    wanted: NewFsxLustre | NewFsxOpenZfs,
    network: NetworkPlan,
    *,
    subnets_known: bool,
    review: Review,
) -> tuple[str, ...]:
    """Return the subnet that an entry of `storage` sets, as a reference of the network.

    Args:
        name: Key in `storage`.
        wanted: The entry.
        network: Plan of the network.
        subnets_known: Whether the account was queried, so that unknown values stay unknown.
        review: Records problems.

    Returns:
        One subnet; several if only the account knows which one; none if the entry sets neither
        subnet nor zone.
    """
    if wanted.subnet_id is not None:
        _review_subnet(name, wanted.subnet_id, network, review)
        return (wanted.subnet_id,)
    if wanted.availability_zone is None:
        return ()
    return _subnets_in_zone(
        name, wanted.availability_zone, network, subnets_known=subnets_known, review=review
    )


def _review_subnet(name: str, subnet_id: str, network: NetworkPlan, review: Review) -> None:
    private = network.private_names
    if subnet_id not in private:
        review.refuse(
            f"storage.{name}.subnet_id",
            "is not a private subnet of the network, so nodes could not reach the file system",
            found=subnet_id,
            allowed=", ".join(private),
            remedy=(
                "set availability_zone instead"
                if network.is_new
                else "use one of them, or add it to network.private_subnet_ids"
            ),
        )


def _subnets_in_zone(
    name: str, zone: str, network: NetworkPlan, *, subnets_known: bool, review: Review
) -> tuple[str, ...]:
    private = network.private_subnets
    found = tuple(subnet.name for subnet in private if subnet.availability_zone == zone)
    if found:
        return found[:1]
    # Only the account can compare zone names with zone ids or look up missing zones.
    open_ = tuple(
        subnet.name
        for subnet in private
        if subnet.availability_zone is None or not same_kind_of_zone(subnet.availability_zone, zone)
    )
    if open_ and not subnets_known:
        review.note(
            f"storage {name}: is in the private subnet in {zone}, which can only be read from the "
            "account"
        )
        return open_
    review.refuse(
        f"storage.{name}.availability_zone",
        "is a zone in which the network has no private subnet",
        found=zone,
        allowed=", ".join(subnet.availability_zone or subnet.name for subnet in private),
        remedy="set the zone of one of them, or add a private subnet in this zone to the network",
    )
    return tuple(subnet.name for subnet in private)


# The plan of one FSx for Lustre file system.
#
# Source:
#     https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html
#     https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html


LUSTRE_VERSION = "2.15"
"""AWS recommends it for all new file systems; the default depends on the type."""
LUSTRE_PORTS = ((988, 988), (1018, 1023))
"""TCP port ranges of Lustre; clients and servers open connections to each other.

https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
"""
STORAGE_TAG = "trainyard:storage"
"""Key of the tag with the `storage` entry of a file system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimPlan:
    """The claim that pods use to mount a file system."""

    name: str
    """Name of the PersistentVolumeClaim."""
    namespace: str
    volume_name: str
    """Name of the PersistentVolume, which is not namespaced."""
    mount_options: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LustreSettings:
    """Settings of a new file system, in the terms of the FSx API."""

    deployment_type: LustreDeploymentType
    storage_type: StorageType
    per_unit_storage_throughput: int | None
    """MB/s per TiB."""
    drive_cache_type: str | None
    compression: str
    kms_key_arn: str | None
    efa_enabled: bool
    metadata_iops: int | None
    """None scales them automatically with the capacity, if the type supports them."""
    import_path: str | None
    export_path: str | None
    auto_import_policy: str | None
    data_repositories: tuple[DataRepository, ...]
    weekly_maintenance: str | None
    backup_retention_days: int
    backup_time: str | None

    @property
    def has_metadata_configuration(self) -> bool:
        """Whether metadata performance is configured; EFA requires it."""
        return self.deployment_type == "PERSISTENT_2"


@dataclass(frozen=True, slots=True, kw_only=True)
class FsxLustrePlan:
    """One file system, new or existing, and the claim for pods."""

    name: str
    """Key in `storage`."""
    claim: ClaimPlan
    capacity_gib: int | None
    """None if only the account knows it."""
    deletion_protection: bool = True
    settings: LustreSettings | None = None
    """None for an existing file system that the stack does not own."""
    subnets: tuple[str, ...] = ()
    """For a new or adopted file system: references of the `NetworkPlan`, exactly one after the
    account was queried."""
    file_system_id: str | None = None
    """Id of an existing or adopted file system; the following fields are for these too."""
    dns_name: str | None = None
    mount_name: str | None = None
    security_group_id: str | None = None
    """Security group of the file system to which the stack adds rules for the nodes; None if it
    adds no rules to existing groups."""
    tags: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def addresses(self) -> int:
        """Addresses that it uses in its subnet: one per server, including the metadata servers.

        https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html#ip-addesses-for-fs
        """
        settings = self.settings
        if settings is None or self.capacity_gib is None:
            return 0
        rule = capacity_rule(
            settings.deployment_type,
            settings.storage_type,
            settings.per_unit_storage_throughput,
            efa=settings.efa_enabled,
        )
        return 1 + (-(-self.capacity_gib // rule.step) if rule else 1)


def plan_new(
    name: str, wanted: NewFsxLustre, *, subnets: tuple[str, ...], tags: Mapping[str, str]
) -> FsxLustrePlan:
    """Return the plan of a new or adopted file system in one of these subnets."""
    adopted = wanted.adopt
    return FsxLustrePlan(
        name=name,
        claim=plan_claim(name, wanted),
        capacity_gib=wanted.storage_capacity_gib,
        deletion_protection=wanted.deletion_protection,
        subnets=subnets,
        tags={**tags, STORAGE_TAG: name},
        file_system_id=None if adopted is None else adopted.file_system_id,
        security_group_id=None if adopted is None else adopted.security_group_id,
        settings=LustreSettings(
            deployment_type=wanted.deployment_type,
            storage_type=wanted.storage_type,
            per_unit_storage_throughput=wanted.per_unit_storage_throughput,
            drive_cache_type=_drive_cache(wanted),
            compression=wanted.compression,
            kms_key_arn=wanted.kms_key_arn,
            efa_enabled=wanted.efa_enabled,
            metadata_iops=wanted.metadata_iops,
            import_path=wanted.import_path,
            export_path=wanted.export_path,
            auto_import_policy=wanted.auto_import,
            data_repositories=wanted.data_repositories,
            weekly_maintenance=wanted.weekly_maintenance,
            backup_retention_days=wanted.backup_retention_days,
            backup_time=wanted.backup_time,
        ),
    )


def _drive_cache(wanted: NewFsxLustre) -> str | None:
    """Return the cache, which FSx requires for HDD storage.

    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
    """
    return "NONE" if wanted.storage_type == "HDD" and not wanted.drive_cache else wanted.drive_cache


def plan_existing(name: str, wanted: ExistingFsxLustre) -> FsxLustrePlan:
    """Return the plan of an existing file system."""
    return FsxLustrePlan(
        name=name,
        claim=plan_claim(name, wanted),
        capacity_gib=wanted.storage_capacity_gib,
        file_system_id=wanted.file_system_id,
        dns_name=wanted.dns_name,
        mount_name=wanted.mount_name,
        security_group_id=wanted.security_group_id,
    )


def plan_claim(name: str, wanted: NewFsxLustre | ExistingFsxLustre) -> ClaimPlan:
    """Return the claim of a file system, with its name as a valid Kubernetes name."""
    claim = wanted.claim_name or name.lower().replace("_", "-").strip("-")
    return ClaimPlan(
        name=claim,
        namespace=wanted.claim_namespace,
        volume_name=f"{wanted.claim_namespace}-{claim}",
        mount_options=wanted.mount_options,
    )


def mount_command(*, dns_name: str, mount_name: str, directory: str) -> str:
    """Return the command that mounts a file system on an instance in the VPC.

    https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-ec2-instance.html
    """
    return f"sudo mount -t lustre -o relatime,flock {dns_name}@tcp:/{mount_name} {directory}"


NFS_PORTS = ((111, 111), (2049, 2049), (20001, 20003))
"""Port ranges that clients use, over TCP and UDP.

https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html
"""
NFS_OPTIONS = ("rw", "crossmnt", "no_root_squash")
"""NFS options of the root volume: the head node creates directories as root.

https://docs.aws.amazon.com/fsx/latest/APIReference/API_OpenZFSClientConfiguration.html
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenZfsPlan:
    """A new FSx for OpenZFS file system, which ParallelCluster cannot create."""

    name: str
    """Key in `storage`."""
    storage_capacity_gib: int
    throughput_capacity_mbps: int
    """MB/s."""
    deployment_type: OpenZfsDeploymentType
    compression: str
    kms_key_arn: str | None
    weekly_maintenance: str | None
    backup_retention_days: int
    backup_time: str | None
    subnets: tuple[str, ...]
    """References of the `NetworkPlan`; exactly one after the account was queried."""
    clients: tuple[str, ...]
    """References of the client subnets."""
    deletion_protection: bool
    tags: Mapping[str, str]


def plan_open_zfs(
    name: str,
    wanted: NewFsxOpenZfs,
    *,
    subnets: tuple[str, ...],
    clients: tuple[str, ...],
    tags: Mapping[str, str],
) -> OpenZfsPlan:
    """Return the plan of a file system in one of these subnets."""
    return OpenZfsPlan(
        name=name,
        storage_capacity_gib=wanted.storage_capacity_gib,
        throughput_capacity_mbps=wanted.throughput_capacity_mbps,
        deployment_type=wanted.deployment_type,
        compression=wanted.compression,
        kms_key_arn=wanted.kms_key_arn,
        weekly_maintenance=wanted.weekly_maintenance,
        backup_retention_days=wanted.backup_retention_days,
        backup_time=wanted.backup_time,
        subnets=subnets,
        clients=clients,
        deletion_protection=wanted.deletion_protection,
        tags={**tags, STORAGE_TAG: name},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A node group whose subnets decide where a file system is placed."""

    name: str
    subnets: tuple[str, ...]
    """References of the network; several if only the account knows which one."""
    efa: bool
    in_one_zone: bool
    """Whether it launches in one zone, even if the subnet is still unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoragePlace:
    """The surroundings of the file systems of a stack."""

    network: NetworkPlan
    neighbours: Sequence[Neighbour]
    """Node groups for workloads."""
    subnets_known: bool
    """Whether the account was queried, so that unknown values stay unknown."""


def plan_storage(
    storage: Mapping[str, FileSystem],
    place: StoragePlace,
    *,
    tags: Mapping[str, str],
    review: Review,
) -> tuple[FsxLustrePlan, ...]:
    """Return the new and existing file systems of an EKS stack; record problems."""
    planned: list[FsxLustrePlan] = []
    for name, wanted in storage.items():
        if isinstance(wanted, NewFsxLustre):
            if wanted.adopt is not None:
                _refuse_new_vpc(name, f"{wanted.kind} with adopt", place, review)
            subnets = _subnets(name, wanted, place, review)
            _review_efa(name, wanted, place, review)
            planned.append(plan_new(name, wanted, subnets=subnets, tags=tags))
        elif isinstance(wanted, ExistingFsxLustre):
            _review_existing(name, wanted, place, review)
            planned.append(plan_existing(name, wanted))
        else:
            _refuse_kind(name, wanted, review)
    _review_claims(planned, review)
    return tuple(planned)


def _refuse_kind(name: str, wanted: FileSystem, review: Review) -> None:
    review.refuse(
        f"storage.{name}.kind",
        f"is not mounted on EKS: {wanted.WHY_NOT_ON_EKS}",
        found=wanted.kind,
        allowed="fsx-lustre, existing-fsx-lustre",
        remedy=f"use FSx for Lustre, or remove storage.{name}",
    )


def _subnets(
    name: str, wanted: NewFsxLustre, place: StoragePlace, review: Review
) -> tuple[str, ...]:
    given = given_subnets(
        name, wanted, place.network, subnets_known=place.subnets_known, review=review
    )
    return given or _subnets_of_neighbours(name, place, review)


def _subnets_of_neighbours(name: str, place: StoragePlace, review: Review) -> tuple[str, ...]:
    """Return the subnets of node groups with EFA, or of all node groups without EFA."""
    anchors = [group for group in place.neighbours if group.efa] or list(place.neighbours)
    found = tuple(dict.fromkeys(subnet for group in anchors for subnet in group.subnets))
    candidates = found or place.network.private_names
    if len(candidates) == 1:
        return candidates
    open_ = [group.name for group in anchors if group.in_one_zone and len(group.subnets) > 1]
    if open_ and not place.subnets_known:
        review.note(
            f"storage {name}: is in the subnet of node group {', '.join(open_)}, which can only be "
            "read from the account"
        )
        return candidates
    review.refuse(
        f"storage.{name}.subnet_id",
        (
            "is missing, and the node groups do not determine it: a file system is in one subnet, "
            "preferably that of the nodes that read it"
        ),
        allowed=", ".join(candidates),
        remedy=(
            f"set storage.{name}.availability_zone"
            if place.network.is_new
            else review.set_command(
                f"storage.{name}.subnet_id", candidates[0] if candidates else ""
            )
        ),
        rules=("F8",),
    )
    return candidates


def _review_efa(name: str, wanted: NewFsxLustre, place: StoragePlace, review: Review) -> None:
    if wanted.efa_enabled and not any(group.efa for group in place.neighbours):
        review.refuse(
            f"storage.{name}.efa_enabled",
            "is on, but no node group has EFA",
            found=True,
            allowed="false, or a node group with efa_enabled: true",
            remedy=review.set_command(f"storage.{name}.efa_enabled", "false"),
        )


def _review_existing(
    name: str, wanted: ExistingFsxLustre, place: StoragePlace, review: Review
) -> None:
    if _refuse_new_vpc(name, wanted.kind, place, review):
        return
    for key, value in (("dns_name", wanted.dns_name), ("mount_name", wanted.mount_name)):
        if value is None and place.subnets_known:
            review.refuse(
                f"storage.{name}.{key}",
                "is missing, and could not be read from the account",
                remedy=(
                    "allow fsx:DescribeFileSystems, or "
                    + review.set_command(f"storage.{name}.{key}", "VALUE")
                ),
            )


def _refuse_new_vpc(name: str, found: str, place: StoragePlace, review: Review) -> bool:
    """Refuse a file system that exists in a VPC that does not; return whether it is refused."""
    if not place.network.exists:
        review.refuse(
            f"storage.{name}.kind",
            "is an existing file system, which cannot be in a new VPC",
            found=found,
            allowed="fsx-lustre, network.kind: existing-vpc, or network.adopt",
            remedy=(
                "use the VPC of the file system with network.kind: existing-vpc, or create a new "
                "file system"
            ),
        )
    return not place.network.exists


def _review_claims(planned: Sequence[FsxLustrePlan], review: Review) -> None:
    seen: dict[tuple[str, str], str] = {}
    for each in planned:
        claim = (each.claim.namespace, each.claim.name)
        other = seen.setdefault(claim, each.name)
        if other != each.name:
            review.refuse(
                f"storage.{each.name}.claim_name",
                f"is also the claim of storage.{other}, in the same namespace",
                found="/".join(claim),
                allowed="a name that is unique in the namespace",
                remedy=review.set_command(f"storage.{each.name}.claim_name", "NAME"),
            )
