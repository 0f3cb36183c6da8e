"""File systems that a cluster mounts: FSx for Lustre here, the other kinds in modules beside it.

Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from components.config.base import KmsKeyArn, StrictModel, SubnetId, Zone
from components.config.contradictions import raise_all
from components.config.efs import ExistingEfs, NewEfs
from components.config.lustre_review import lustre_contradictions
from components.config.open_zfs import ExistingFsxOpenZfs, NewFsxOpenZfs
from components.config.shared_ebs import ExistingSharedEbs, NewSharedEbs
from components.config.storage_fields import (
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
    """How pods mount it, on EKS; `flock` is what FSx recommends."""
    claim_name: ClaimName | None = None
    """Name of the PersistentVolumeClaim that pods name, on EKS; left out, that of the entry."""
    claim_namespace: ClaimName = "default"
    """Namespace of the claim, on EKS; it must exist."""


class DataRepository(StrictModel):
    """A directory of the file system that is kept in step with an S3 prefix."""

    file_system_path: FileSystemPath
    """Directory. No two of one file system may overlap."""
    s3_path: S3Path
    """Bucket and prefix. The bucket is in the stack's region; it is not read or changed by us."""
    import_events: Annotated[tuple[Event, ...], Field(max_length=3)] = ("NEW", "CHANGED", "DELETED")
    """What happens in S3 and shows in the directory."""
    export_events: Annotated[tuple[Event, ...], Field(max_length=3)] = ()
    """What happens in the directory and is written to S3."""


class NewFsxLustre(_LustreMount):
    """An FSx for Lustre file system that the stack makes."""

    kind: Literal["fsx-lustre"]
    """FSx for Lustre, new."""
    deployment_type: Literal["SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"] = (
        "PERSISTENT_2"
    )
    """Durability. Changing it replaces the file system."""
    storage_type: Literal["SSD", "HDD"] = "SSD"
    """Disks; `HDD` with `PERSISTENT_1` only. Changing it replaces the file system."""
    storage_capacity_gib: StorageGib = 1200
    """Capacity in GiB: 1200, then steps of 2400; other steps with HDD and with EFA. It can grow;
    less replaces the file system."""
    per_unit_storage_throughput: int | None = None
    """Throughput in MB/s for each TiB; persistent types only, and needed there."""
    drive_cache: Literal["NONE", "READ"] | None = None
    """SSD cache of HDD storage, and only there; left out, `NONE`."""
    compression: Literal["LZ4", "NONE"] = "LZ4"
    """Compression of what is written; it saves bandwidth too."""
    kms_key_arn: KmsKeyArn | None = None
    """KMS key that encrypts the data; persistent types only. Left out, the key of FSx itself."""
    efa_enabled: bool = False
    """Whether clients reach it over EFA and GPUDirect Storage; `PERSISTENT_2` on SSD only."""
    metadata_iops: int | None = None
    """Metadata operations a second; `PERSISTENT_2` only. Left out, they grow with the capacity."""
    import_path: S3Path | None = None
    """S3 prefix whose objects the file system shows; not with `PERSISTENT_2`."""
    export_path: S3Path | None = None
    """S3 prefix for what jobs export; in the bucket of `import_path`."""
    auto_import: Literal["NONE", "NEW", "NEW_CHANGED", "NEW_CHANGED_DELETED"] | None = None
    """Which later changes of `import_path` show."""
    data_repositories: tuple[DataRepository, ...] = ()
    """Directories kept in step with S3, at most 8; in place of `import_path`."""
    weekly_maintenance: WeeklyTime | None = None
    """When AWS may patch it, such as `"7:03:00"` (Sunday, 03:00 UTC); left out, AWS chooses."""
    backup_retention_days: Annotated[int, Field(ge=0, le=90)] = 0
    """Days to keep daily backups; 0 for none. Persistent types without S3 only."""
    backup_time: DailyTime | None = None
    """When daily backups begin, such as `"03:00"`, UTC; left out, AWS chooses."""
    availability_zone: Zone | None = None
    """Zone, by name or zone id. Left out, that of the node groups with EFA. ParallelCluster puts it
    into the subnet of the queues."""
    subnet_id: SubnetId | None = None
    """Private subnet; in place of `availability_zone`. Changing it replaces the file system."""
    deletion_protection: bool = True
    """Whether the file system outlives `destroy` and refuses changes that would replace it."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        raise_all(lustre_contradictions(self))
        return self


class ExistingFsxLustre(_LustreMount):
    """An FSx for Lustre file system that exists; the stack mounts it and never changes it."""

    kind: Literal["existing-fsx-lustre"]
    """FSx for Lustre, existing."""
    file_system_id: FsxId
    """The file system, in the cluster's VPC."""
    security_group_id: SecurityGroupId | None = None
    """Security group of the file system into which the stack puts rules for its nodes, and takes
    them out when it goes. Left out, the file system must let the nodes in already."""
    dns_name: FsxDnsName | None = None
    """Name that clients mount; left out, it is read from the account."""
    mount_name: LustreMountName | None = None
    """Lustre name of the file system; left out, it is read from the account."""
    storage_capacity_gib: StorageGib | None = None
    """Capacity in GiB; left out, it is read from the account."""


FileSystem = Annotated[
    NewFsxLustre
    | ExistingFsxLustre
    | NewEfs
    | ExistingEfs
    | NewFsxOpenZfs
    | ExistingFsxOpenZfs
    | NewSharedEbs
    | ExistingSharedEbs,
    Field(discriminator="kind"),
]
