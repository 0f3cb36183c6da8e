"""FSx for OpenZFS: an NFS file server with low latency, for home directories.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemOpenZFSConfiguration.html
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from trainyard.components.config.base import KmsKeyArn, SubnetId, Zone
from trainyard.components.config.contradictions import (
    Contradiction,
    backup_time_faults,
    fault,
    place_faults,
    raise_all,
)
from trainyard.components.config.storage_fields import (
    DailyTime,
    FsxVolumeId,
    MountedStorage,
    WeeklyTime,
)

DeploymentType = Literal["SINGLE_AZ_1", "SINGLE_AZ_2", "SINGLE_AZ_HA_1", "SINGLE_AZ_HA_2"]

_FIRST_GENERATION = (64, 128, 256, 512, 1024, 2048, 3072, 4096)
_SECOND_GENERATION = (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240)
THROUGHPUTS_MBPS: Mapping[DeploymentType, tuple[int, ...]] = {
    "SINGLE_AZ_1": _FIRST_GENERATION,
    "SINGLE_AZ_HA_1": _FIRST_GENERATION,
    "SINGLE_AZ_2": _SECOND_GENERATION,
    "SINGLE_AZ_HA_2": _SECOND_GENERATION,
}
"""Allowed throughput capacities in MB/s, by deployment type."""
SMALLEST_GIB, LARGEST_GIB = 64, 524288
"""https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html, `StorageCapacity`
"""


class NewFsxOpenZfs(MountedStorage):
    """An FSx for OpenZFS file system that the stack creates. Nodes mount its root volume."""

    kind: Literal["fsx-openzfs"]
    """FSx for OpenZFS, new."""
    deployment_type: DeploymentType = "SINGLE_AZ_HA_2"
    """Deployment type: the generation and, with `HA`, a standby file server in the same zone.
    Changing it replaces the file system."""
    storage_capacity_gib: Annotated[int, Field(ge=SMALLEST_GIB, le=LARGEST_GIB)] = SMALLEST_GIB
    """SSD storage capacity in GiB. Increasing it is an update; reducing it replaces the file
    system."""
    throughput_capacity_mbps: int = 160
    """Throughput capacity in MB/s: 160, 320, 640, 1280, 2560, 3840, 5120, 7680 or 10240. For
    `SINGLE_AZ_1` and `SINGLE_AZ_HA_1`: 64, 128, 256, 512, 1024, 2048, 3072 or 4096."""
    compression: Literal["LZ4", "ZSTD", "NONE"] = "LZ4"
    """Compression of new data."""
    kms_key_arn: KmsKeyArn | None = None
    """KMS key that encrypts the data. If omitted, the AWS managed key of FSx."""
    weekly_maintenance: WeeklyTime | None = None
    """Start of the weekly maintenance window, such as `"7:03:00"` (Sunday, 03:00 UTC). If omitted,
    AWS chooses it."""
    backup_retention_days: Annotated[int, Field(ge=0, le=90)] = 0
    """Days to keep automatic daily backups. 0 disables them."""
    backup_time: DailyTime | None = None
    """Start time of daily backups in UTC, such as `"03:00"`. If omitted, AWS chooses it."""
    availability_zone: Zone | None = None
    """Zone, by name or zone id. If omitted, the zone of the first queue by name."""
    subnet_id: SubnetId | None = None
    """Private subnet, instead of `availability_zone`. Changing it replaces the file system."""
    deletion_protection: bool = True
    """Whether `destroy` keeps the file system and updates that would replace it fail."""

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
    """An existing FSx for OpenZFS volume. The stack mounts it and never changes it."""

    kind: Literal["existing-fsx-openzfs"]
    """FSx for OpenZFS, existing."""
    volume_id: FsxVolumeId
    """ID of the volume. Its file system must be in the cluster's VPC."""


def _throughput(wanted: NewFsxOpenZfs) -> Iterator[Contradiction]:
    allowed = THROUGHPUTS_MBPS[wanted.deployment_type]
    given = wanted.throughput_capacity_mbps
    if given not in allowed:
        nearest = next((value for value in allowed if value >= given), allowed[-1])
        yield fault(
            "throughput_capacity_mbps",
            f"is {given}, which {wanted.deployment_type} does not support",
            why="FSx offers fixed throughput capacities",
            allowed=", ".join(map(str, allowed)),
            remedy=f"set throughput_capacity_mbps: {nearest}",
        )
