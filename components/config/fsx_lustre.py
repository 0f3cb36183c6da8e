"""FSx for Lustre file systems of a stack file.

Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html
"""

from typing import Annotated, Literal

from pydantic import Field

from trainyard.components.config.base import KmsKeyArn, StrictModel, SubnetId, Zone
from trainyard.components.config.storage_fields import (
    ClaimName,
    DailyTime,
    Event,
    FileSystemPath,
    FsxDnsName,
    FsxId,
    LustreMountName,
    MountedStorage,
    MountOption,
    S3Path,
    SecurityGroupId,
    StorageGib,
    WeeklyTime,
)


class _LustreMount(MountedStorage):
    mount_options: tuple[MountOption, ...] = ("flock",)
    """Mount options of pods, on EKS. FSx recommends `flock`."""
    claim_name: ClaimName | None = None
    """Name of the PersistentVolumeClaim for pods, on EKS. If omitted, the name of the entry."""
    claim_namespace: ClaimName = "default"
    """Namespace of the PersistentVolumeClaim, on EKS. It must exist."""


class DataRepository(StrictModel):
    """A directory of the file system that is linked to an S3 prefix."""

    file_system_path: FileSystemPath
    """Directory. Directories of the same file system cannot overlap."""
    s3_path: S3Path
    """Bucket and prefix. The bucket must be in the stack's region. The program does not read or
    change it."""
    import_events: Annotated[tuple[Event, ...], Field(max_length=3)] = ("NEW", "CHANGED", "DELETED")
    """Changes in S3 that FSx imports into the directory."""
    export_events: Annotated[tuple[Event, ...], Field(max_length=3)] = ()
    """Changes in the directory that FSx exports to S3."""


class AdoptedFsxLustre(StrictModel):
    """An existing FSx for Lustre file system that becomes part of the stack, as it is."""

    file_system_id: FsxId
    """ID of the file system, which must be in the cluster's VPC."""
    security_group_id: SecurityGroupId | None = None
    """Security group of the file system, to which the stack adds rules for its nodes; `destroy`
    removes them. If omitted, the file system must already allow traffic from the nodes."""


class NewFsxLustre(_LustreMount):
    """An FSx for Lustre file system that the stack creates, or that it adopts."""

    kind: Literal["fsx-lustre"]
    """FSx for Lustre, new."""
    deployment_type: Literal["SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"] = (
        "PERSISTENT_2"
    )
    """Deployment type, which determines durability. Changing it replaces the file system."""
    storage_type: Literal["SSD", "HDD"] = "SSD"
    """Storage type. `HDD` is valid with `PERSISTENT_1` only. Changing it replaces the file system.
    """
    storage_capacity_gib: StorageGib = 1200
    """Capacity in GiB: 1200 or multiples of 2400; other steps with HDD and with EFA. Increasing it
    is an update; reducing it replaces the file system."""
    per_unit_storage_throughput: int | None = None
    """Throughput in MB/s per TiB. Required for persistent deployment types, and valid only there.
    """
    drive_cache: Literal["NONE", "READ"] | None = None
    """SSD cache of HDD storage. Valid for HDD only. If omitted, `NONE`."""
    compression: Literal["LZ4", "NONE"] = "LZ4"
    """Compression of new data. It also saves bandwidth."""
    kms_key_arn: KmsKeyArn | None = None
    """KMS key that encrypts the data. Valid for persistent deployment types only. If omitted, the
    AWS managed key of FSx."""
    efa_enabled: bool = False
    """Whether clients can use EFA and GPUDirect Storage. Valid for `PERSISTENT_2` on SSD only."""
    metadata_iops: int | None = None
    """Provisioned metadata IOPS. Valid for `PERSISTENT_2` only. If omitted, they grow with the
    capacity."""
    import_path: S3Path | None = None
    """S3 prefix whose objects FSx imports. Not valid with `PERSISTENT_2`."""
    export_path: S3Path | None = None
    """S3 prefix for exported files, in the bucket of `import_path`."""
    auto_import: Literal["NONE", "NEW", "NEW_CHANGED", "NEW_CHANGED_DELETED"] | None = None
    """Which later changes of objects under `import_path` FSx imports."""
    data_repositories: tuple[DataRepository, ...] = ()
    """Directories linked to S3, at most 8, instead of `import_path`."""
    weekly_maintenance: WeeklyTime | None = None
    """Start of the weekly maintenance window, such as `"7:03:00"` (Sunday, 03:00 UTC). If omitted,
    AWS chooses it."""
    backup_retention_days: Annotated[int, Field(ge=0, le=90)] = 0
    """Days to keep automatic daily backups. 0 disables them. Valid for persistent deployment types
    that are not linked to S3 only."""
    backup_time: DailyTime | None = None
    """Start time of daily backups in UTC, such as `"03:00"`. If omitted, AWS chooses it."""
    availability_zone: Zone | None = None
    """Zone, by name or zone id. If omitted, the zone of the node groups with EFA. On
    ParallelCluster, the subnet of the queues."""
    subnet_id: SubnetId | None = None
    """Private subnet, instead of `availability_zone`. Changing it replaces the file system."""
    deletion_protection: bool = True
    """Whether `destroy` keeps the file system and updates that would replace it fail."""
    adopt: AdoptedFsxLustre | None = None
    """An existing file system, which the stack imports instead of creating one. The other keys
    must describe it. Keep it after the import. For EKS only."""


class ExistingFsxLustre(_LustreMount):
    """An existing FSx for Lustre file system. The stack mounts it and never changes it."""

    kind: Literal["existing-fsx-lustre"]
    """FSx for Lustre, existing."""
    file_system_id: FsxId
    """ID of the file system, which must be in the cluster's VPC."""
    security_group_id: SecurityGroupId | None = None
    """Security group of the file system, to which the stack adds rules for its nodes; `destroy`
    removes them. If omitted, the file system must already allow traffic from the nodes."""
    dns_name: FsxDnsName | None = None
    """DNS name that clients mount. If omitted, it is read from the account."""
    mount_name: LustreMountName | None = None
    """Mount name of the Lustre file system. If omitted, it is read from the account."""
    storage_capacity_gib: StorageGib | None = None
    """Capacity in GiB. If omitted, it is read from the account."""


def adopted_or_existing(wanted: StrictModel) -> AdoptedFsxLustre | ExistingFsxLustre | None:
    """Return where an entry of `storage` names a Lustre file system; None if it names none."""
    if isinstance(wanted, NewFsxLustre):
        return wanted.adopt
    return wanted if isinstance(wanted, ExistingFsxLustre) else None
