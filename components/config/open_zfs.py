"""FSx for OpenZFS: a file server over NFS with low latency, for home directories.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemOpenZFSConfiguration.html
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from components.config.base import KmsKeyArn, SubnetId, Zone
from components.config.contradictions import (
    Contradiction,
    backup_time_faults,
    fault,
    place_faults,
    raise_all,
)
from components.config.storage_fields import DailyTime, FsxVolumeId, MountedStorage, WeeklyTime

DeploymentType = Literal["SINGLE_AZ_1", "SINGLE_AZ_2", "SINGLE_AZ_HA_1", "SINGLE_AZ_HA_2"]

_FIRST_GENERATION = (64, 128, 256, 512, 1024, 2048, 3072, 4096)
_SECOND_GENERATION = (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240)
THROUGHPUTS_MBPS: Mapping[DeploymentType, tuple[int, ...]] = {
    "SINGLE_AZ_1": _FIRST_GENERATION,
    "SINGLE_AZ_HA_1": _FIRST_GENERATION,
    "SINGLE_AZ_2": _SECOND_GENERATION,
    "SINGLE_AZ_HA_2": _SECOND_GENERATION,
}
"""Throughputs in MB/s that can be bought, by deployment type."""
SMALLEST_GIB, LARGEST_GIB = 64, 524288
"""https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html, `StorageCapacity`
"""


class NewFsxOpenZfs(MountedStorage):
    """An FSx for OpenZFS file system that the stack makes; nodes mount its root volume."""

    kind: Literal["fsx-openzfs"]
    """FSx for OpenZFS, new."""
    deployment_type: DeploymentType = "SINGLE_AZ_HA_2"
    """Generation, and with `HA` a second server in the same zone. Changing it replaces the file
    system."""
    storage_capacity_gib: Annotated[int, Field(ge=SMALLEST_GIB, le=LARGEST_GIB)] = SMALLEST_GIB
    """Capacity in GiB. It can grow; less replaces the file system."""
    throughput_capacity_mbps: int = 160
    """Throughput in MB/s: 160, 320, 640, 1280, 2560, 3840, 5120, 7680 or 10240; of the types with
    a 1 in the name 64, 128, 256, 512, 1024, 2048, 3072 or 4096."""
    compression: Literal["LZ4", "ZSTD", "NONE"] = "LZ4"
    """Compression of what is written."""
    kms_key_arn: KmsKeyArn | None = None
    """KMS key that encrypts the data; left out, the key of FSx itself."""
    weekly_maintenance: WeeklyTime | None = None
    """When AWS may patch it, such as `"7:03:00"` (Sunday, 03:00 UTC); left out, AWS chooses."""
    backup_retention_days: Annotated[int, Field(ge=0, le=90)] = 0
    """Days to keep daily backups; 0 for none."""
    backup_time: DailyTime | None = None
    """When daily backups begin, such as `"03:00"`, UTC; left out, AWS chooses."""
    availability_zone: Zone | None = None
    """Zone, by name or zone id. Left out, that of the first queue by name."""
    subnet_id: SubnetId | None = None
    """Private subnet; in place of `availability_zone`. Changing it replaces the file system."""
    deletion_protection: bool = True
    """Whether the file system outlives `destroy` and refuses changes that would replace it."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        raise_all(
            (
                *_throughput(self),
                *backup_time_faults(
                    backup_time=self.backup_time, retention_days=self.backup_retention_days
                ),
                *place_faults(subnet_id=self.subnet_id, availability_zone=self.availability_zone),
            )
        )
        return self


class ExistingFsxOpenZfs(MountedStorage):
    """A volume of FSx for OpenZFS that exists; the stack mounts it and never changes it."""

    kind: Literal["existing-fsx-openzfs"]
    """FSx for OpenZFS, existing."""
    volume_id: FsxVolumeId
    """The volume, of a file system in the cluster's VPC."""


def _throughput(wanted: NewFsxOpenZfs) -> Iterator[Contradiction]:
    allowed = THROUGHPUTS_MBPS[wanted.deployment_type]
    given = wanted.throughput_capacity_mbps
    if given not in allowed:
        nearest = next((value for value in allowed if value >= given), allowed[-1])
        yield fault(
            "throughput_capacity_mbps",
            f"is {given}, which {wanted.deployment_type} does not have",
            why="throughput is bought in steps",
            allowed=", ".join(map(str, allowed)),
            remedy=f"give throughput_capacity_mbps: {nearest}",
        )
