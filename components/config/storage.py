"""File systems that a cluster mounts.

Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from components.config.base import Form, KmsKeyArn, StrictModel, SubnetId, Zone
from components.config.lustre_review import lustre_contradictions

FsxId = Annotated[
    str,
    Form(
        pattern=r"fs-[0-9a-f]{8,17}",
        expected="the id of a file system: `fs-` and hexadecimal digits",
        example="fs-0123456789abcdef0",
    ),
]
SecurityGroupId = Annotated[
    str,
    Form(
        pattern=r"sg-(?:[0-9a-f]{8}|[0-9a-f]{17})",
        expected="the id of a security group: `sg-` and 17 (or 8) hexadecimal digits",
        example="sg-0123456789abcdef0",
    ),
]
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html
S3Path = Annotated[
    str,
    Form(
        pattern=r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:/[^\r\n]{0,800})?",
        expected="an S3 bucket with an optional prefix",
        example="s3://training-data/imagenet/",
    ),
]
FileSystemPath = Annotated[
    str,
    Form(
        pattern=r"/(?:[^\r\n]{0,4095})",
        expected="a directory of the file system, from its root",
        example="/imagenet",
    ),
]
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
WeeklyTime = Annotated[
    str,
    Form(
        pattern=r"[1-7]:(?:[01]\d|2[0-3]):[0-5]\d",
        expected="a weekday (1 is Monday) and a time in UTC, in quotes",
        example="7:03:00",
    ),
]
DailyTime = Annotated[
    str,
    Form(
        pattern=r"(?:[01]\d|2[0-3]):[0-5]\d",
        expected="a time of the day in UTC, in quotes",
        example="03:00",
    ),
]
# https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
ClaimName = Annotated[
    str,
    Form(
        pattern=r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?",
        expected="a Kubernetes name: at most 63 small letters, digits and hyphens",
        example="scratch",
    ),
]
MountOption = Annotated[
    str,
    Form(pattern=r"[a-z_]+(?:=[^,\s]+)?", expected="one option of `mount`", example="flock"),
]
Event = Literal["NEW", "CHANGED", "DELETED"]


class _LustreMount(StrictModel):
    mount_options: tuple[MountOption, ...] = ("flock",)
    """How pods mount it; `flock` is what FSx recommends."""
    claim_name: ClaimName | None = None
    """Name of the PersistentVolumeClaim that pods name; left out, the file system's name."""
    claim_namespace: ClaimName = "default"
    """Namespace of the claim; it must exist."""


class DataRepository(StrictModel):
    """A directory of the file system that is kept in step with an S3 prefix."""

    file_system_path: FileSystemPath
    """Directory. No two of one file system may overlap."""
    s3_path: S3Path
    """Bucket and prefix. The bucket is in the stack's region; it is not read or changed by us."""
    import_events: tuple[Event, ...] = ("NEW", "CHANGED", "DELETED")
    """What happens in S3 and shows in the directory."""
    export_events: tuple[Event, ...] = ()
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
    storage_capacity_gib: Annotated[int, Field(ge=1)] = 1200
    """Capacity in GiB: 1200, then steps of 2400; other steps with HDD and with EFA. It can grow;
    less replaces the file system."""
    per_unit_storage_throughput: int | None = None
    """Throughput in MB/s for each TiB; persistent types only, and needed there."""
    drive_cache: Literal["NONE", "READ"] | None = None
    """SSD cache of HDD storage; needed there, and only there."""
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
    """Zone, by name or zone id. Left out, that of the node groups with EFA."""
    subnet_id: SubnetId | None = None
    """Private subnet; in place of `availability_zone`. Changing it replaces the file system."""
    deletion_protection: bool = True
    """Whether the file system outlives `destroy` and refuses changes that would replace it."""

    @model_validator(mode="after")
    def _fits_together(self) -> NewFsxLustre:
        found = lustre_contradictions(self)
        if found:
            raise PydanticCustomError("contradictions", "does not fit together", {"all": found})
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
    dns_name: str | None = None
    """Name that clients mount; left out, it is read from the account."""
    mount_name: str | None = None
    """Lustre name of the file system; left out, it is read from the account."""
    storage_capacity_gib: Annotated[int, Field(ge=1)] | None = None
    """Capacity in GiB; left out, it is read from the account."""


class Efs(StrictModel):
    """An EFS file system."""

    kind: Literal["efs"]
    """Amazon EFS."""
    file_system_id: FsxId | None = None
    """An existing file system; left out, the stack makes one."""


class FsxOpenZfs(StrictModel):
    """An FSx for OpenZFS file system that the stack makes."""

    kind: Literal["fsx-openzfs"]
    """FSx for OpenZFS."""
    storage_capacity_gib: Annotated[int, Field(ge=64, le=524288)] = 64
    """Capacity in GiB."""
    throughput_mibps: Annotated[int, Field(ge=160)] = 160
    """Throughput in MiB/s."""


class SharedEbs(StrictModel):
    """An EBS volume shared over NFS."""

    kind: Literal["ebs"]
    """Amazon EBS, shared by the head node."""
    size_gib: Annotated[int, Field(ge=1, le=16384)]
    """Size in GiB."""


FileSystem = Annotated[
    NewFsxLustre | ExistingFsxLustre | Efs | FsxOpenZfs | SharedEbs, Field(discriminator="kind")
]
