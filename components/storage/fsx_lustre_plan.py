"""The plan of one FSx for Lustre file system.

Source:
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainyard.components.config.fsx_lustre import DataRepository, ExistingFsxLustre, NewFsxLustre
from trainyard.components.config.lustre_rules import DeploymentType, StorageType, capacity_rule

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

    deployment_type: DeploymentType
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
