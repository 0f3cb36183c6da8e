"""File systems that a cluster mounts, of every kind."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from trainyard.components.config.base import (
    EffectiveWith,
    KmsKeyArn,
    StrictModel,
    SubnetId,
    Switch,
    Zone,
)
from trainyard.components.config.fsx_lustre import (
    ExistingFsxLustre,
    NewFsxLustre,
    without_contradictions,
)
from trainyard.components.config.problems import (
    Contradiction,
    fault,
    place_faults,
    raise_all,
)
from trainyard.components.config.storage_fields import (
    OF_BACKUPS,
    AccessPointId,
    DailyTime,
    EbsVolumeId,
    EfsId,
    FsxVolumeId,
    MountedStorage,
    WeeklyTime,
)

# Amazon EFS: NFS file systems that grow automatically and are reachable from every zone.
#
# Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html, `EfsSettings`


MOST_PROVISIONED_MIBPS = 1024
"""Maximum of ParallelCluster's schema, in MiB/s."""


_OF_ENCRYPTION = EffectiveWith((Switch("encrypted"),), why="without encryption the key is not used")


class _EfsMount(MountedStorage):
    WHY_NOT_ON_EKS: ClassVar[str] = "NFS is too slow for training data"

    encryption_in_transit: bool = False
    """Whether nodes mount the file system over TLS."""
    iam_authorization: bool = False
    """Whether nodes use their IAM role to mount the file system. Requires `encryption_in_transit`.
    """


class NewEfs(_EfsMount):
    """An EFS file system that ParallelCluster creates, with a mount target in each zone."""

    kind: Literal["efs"]
    """Amazon EFS, new."""
    throughput_mode: Literal["bursting", "provisioned"] = "bursting"
    """`bursting`: throughput grows with the stored data. `provisioned`: throughput is fixed by
    `provisioned_throughput_mibps`. ParallelCluster does not support elastic throughput."""
    provisioned_throughput_mibps: Annotated[int, Field(ge=1, le=MOST_PROVISIONED_MIBPS)] | None = (
        None
    )
    """Throughput in MiB/s. Required with `throughput_mode: provisioned`, and valid only there."""
    performance_mode: Literal["generalPurpose", "maxIO"] = "generalPurpose"
    """`maxIO` supports more operations per second at a higher latency. Cannot be changed after
    creation."""
    encrypted: bool = True
    """Whether the data is encrypted. Cannot be changed after creation."""
    kms_key_arn: Annotated[KmsKeyArn | None, _OF_ENCRYPTION] = None
    """KMS key that encrypts the data. If omitted, the AWS managed key of EFS."""
    deletion_protection: bool = True
    """Whether the file system is kept when the cluster is deleted."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        raise_all(
            (
                *_efs_throughput(self),
                *_transit(self),
            )
        )
        return self


class ExistingEfs(_EfsMount):
    """An existing EFS file system. It needs a mount target in each zone of the cluster."""

    kind: Literal["existing-efs"]
    """Amazon EFS, existing."""
    file_system_id: EfsId
    """ID of the file system, which must be in the cluster's VPC."""
    access_point_id: AccessPointId | None = None
    """Access point that nodes mount. Requires `encryption_in_transit`."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        raise_all((*_transit(self), *_access_point(self)))
        return self


def _efs_throughput(wanted: NewEfs) -> Iterator[Contradiction]:
    provisioned = wanted.throughput_mode == "provisioned"
    if provisioned == (wanted.provisioned_throughput_mibps is not None):
        return
    yield fault(
        "provisioned_throughput_mibps",
        "is missing" if provisioned else "is given for the throughput mode bursting",
        why="EFS needs the throughput in provisioned mode, and accepts it in no other mode",
        allowed=f"1 to {MOST_PROVISIONED_MIBPS} with throughput_mode: provisioned, none otherwise",
        remedy=(
            f"add provisioned_throughput_mibps: {MOST_PROVISIONED_MIBPS}"
            if provisioned
            else "add throughput_mode: provisioned"
        ),
    )


def _transit(wanted: NewEfs | ExistingEfs) -> Iterator[Contradiction]:
    if wanted.iam_authorization and not wanted.encryption_in_transit:
        yield fault(
            "iam_authorization",
            "is on without encryption_in_transit",
            why="EFS supports IAM authorization over TLS only",
            allowed="false, or encryption_in_transit: true",
            remedy="add encryption_in_transit: true",
        )


def _access_point(wanted: ExistingEfs) -> Iterator[Contradiction]:
    if wanted.access_point_id is not None and not wanted.encryption_in_transit:
        yield fault(
            "access_point_id",
            "is given without encryption_in_transit",
            why="EFS access points require TLS",
            allowed="no access_point_id, or encryption_in_transit: true",
            remedy="add encryption_in_transit: true",
        )


# FSx for OpenZFS: an NFS file server with low latency, for home directories.
#
# Source:
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemOpenZFSConfiguration.html


OpenZfsDeploymentType = Literal["SINGLE_AZ_1", "SINGLE_AZ_2", "SINGLE_AZ_HA_1", "SINGLE_AZ_HA_2"]

_FIRST_GENERATION = (64, 128, 256, 512, 1024, 2048, 3072, 4096)
_SECOND_GENERATION = (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240)
THROUGHPUTS_MBPS: Mapping[OpenZfsDeploymentType, tuple[int, ...]] = {
    "SINGLE_AZ_1": _FIRST_GENERATION,
    "SINGLE_AZ_HA_1": _FIRST_GENERATION,
    "SINGLE_AZ_2": _SECOND_GENERATION,
    "SINGLE_AZ_HA_2": _SECOND_GENERATION,
}
"""Allowed throughput capacities in MB/s, by deployment type."""
SMALLEST_GIB, LARGEST_GIB = 64, 524288
"""https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html, `StorageCapacity`
"""


class _OpenZfsMount(MountedStorage):
    WHY_NOT_ON_EKS: ClassVar[str] = "it serves home directories, which pods do not have"


class NewFsxOpenZfs(_OpenZfsMount):
    """An FSx for OpenZFS file system that the stack creates. Nodes mount its root volume."""

    kind: Literal["fsx-openzfs"]
    """FSx for OpenZFS, new."""
    deployment_type: OpenZfsDeploymentType = "SINGLE_AZ_HA_2"
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
    backup_time: Annotated[DailyTime | None, OF_BACKUPS] = None
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
                *_open_zfs_throughput(self),
                *place_faults(subnet_id=self.subnet_id, availability_zone=self.availability_zone),
            )
        )
        return self


class ExistingFsxOpenZfs(_OpenZfsMount):
    """An existing FSx for OpenZFS volume. The stack mounts it and never changes it."""

    kind: Literal["existing-fsx-openzfs"]
    """FSx for OpenZFS, existing."""
    volume_id: FsxVolumeId
    """ID of the volume. Its file system must be in the cluster's VPC."""


def _open_zfs_throughput(wanted: NewFsxOpenZfs) -> Iterator[Contradiction]:
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


# Amazon EBS volumes that the head node of a ParallelCluster cluster shares over NFS.
#
# Sources:
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html, `EbsSettings`
#     The validators of `aws-parallelcluster` 3.16.1, `validators/ebs_validators.py`: newer
#     limits of
#         EBS (80,000 IOPS for gp3) are not supported by ParallelCluster.


VolumeType = Literal["gp3", "gp2", "io1", "io2", "st1", "sc1", "standard"]
SIZES_GIB: Mapping[VolumeType, tuple[int, int]] = {
    "gp3": (1, 16384),
    "gp2": (1, 16384),
    "io1": (4, 16384),
    "io2": (4, 65536),
    "st1": (500, 16384),
    "sc1": (500, 16384),
    "standard": (1, 1024),
}
"""Smallest and largest size in GiB, by volume type."""


@dataclass(frozen=True, slots=True)
class IopsRule:
    """Allowed provisioned IOPS of one volume type."""

    smallest: int
    largest: int
    for_each_gib: int
    default: int
    """Default of ParallelCluster."""

    def most(self, size_gib: int) -> int:
        """Return the maximum IOPS for a volume of this size."""
        return min(self.largest, self.for_each_gib * size_gib)


IOPS: Mapping[VolumeType, IopsRule] = {
    "gp3": IopsRule(3000, 16000, 500, 3000),
    "io1": IopsRule(100, 64000, 50, 100),
    "io2": IopsRule(100, 256000, 1000, 100),
}
"""Allowed IOPS, by volume type with provisioned IOPS."""
THROUGHPUT_MIBPS = (125, 1000)
"""Smallest and largest throughput of gp3 in MiB/s."""
IOPS_FOR_EACH_MIBPS = 4


class Raid(StrictModel):
    """A RAID array of several volumes."""

    type: Literal[0, 1]
    """RAID level. 0: striped, faster. 1: mirrored, safer."""
    number_of_volumes: Annotated[int, Field(ge=2, le=5)] = 2
    """Number of volumes in the array."""


class _EbsMount(MountedStorage):
    WHY_NOT_ON_EKS: ClassVar[str] = (
        "it is a volume of a head node, which EKS does not have; use addons.ebs_csi_driver"
    )


class NewSharedEbs(_EbsMount):
    """A volume that ParallelCluster creates, in the zone of the head node."""

    kind: Literal["ebs"]
    """Amazon EBS, new."""
    volume_type: VolumeType = "gp3"
    """EBS volume type. Cannot be changed after creation."""
    size_gib: Annotated[int, Field(ge=1, le=65536)]
    """Size in GiB: 1 to 16384 (`gp2`, `gp3`), 4 to 16384 (`io1`), 4 to 65536 (`io2`), 500 to 16384
    (`st1`, `sc1`), 1 to 1024 (`standard`). Cannot be changed after creation."""
    iops: Annotated[int, Field(ge=1)] | None = None
    """Provisioned IOPS of `gp3` (3000 to 16000), `io1` and `io2`. If omitted, the minimum."""
    throughput_mibps: Annotated[int, Field(ge=1)] | None = None
    """Throughput of `gp3` in MiB/s, 125 to 1000. If omitted, 125."""
    encrypted: bool = True
    """Whether the data is encrypted. Cannot be changed after creation."""
    kms_key_arn: Annotated[KmsKeyArn | None, _OF_ENCRYPTION] = None
    """KMS key that encrypts the data. If omitted, the default EBS key of the account."""
    raid: Raid | None = None
    """Combines several volumes into one RAID array. At most one entry of a cluster can set it."""
    deletion_protection: bool = True
    """Whether the volume is kept when the cluster is deleted."""
    final_snapshot: bool = False
    """Whether to create a snapshot before the volume is deleted. Not valid with
    `deletion_protection`."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        raise_all((*_size(self), *_iops(self), *_throughput(self), *_kept(self)))
        return self


class ExistingSharedEbs(_EbsMount):
    """An existing volume, in the head node's zone. The stack shares it and never deletes it."""

    kind: Literal["existing-ebs"]
    """Amazon EBS, existing."""
    volume_id: EbsVolumeId
    """ID of the volume. It must not be attached to an instance."""


def _size(wanted: NewSharedEbs) -> Iterator[Contradiction]:
    smallest, largest = SIZES_GIB[wanted.volume_type]
    if not smallest <= wanted.size_gib <= largest:
        nearest = smallest if wanted.size_gib < smallest else largest
        yield fault(
            "size_gib",
            f"is {wanted.size_gib}",
            why=f"EBS has no {wanted.volume_type} volume of this size",
            allowed=f"{smallest} to {largest}",
            remedy=f"set size_gib: {nearest}, or change volume_type",
        )


def _iops(wanted: NewSharedEbs) -> Iterator[Contradiction]:
    rule = IOPS.get(wanted.volume_type)
    if rule is None:
        if wanted.iops is not None:
            yield fault(
                "iops",
                f"is given for {wanted.volume_type}",
                why="the IOPS of this volume type depend on its size",
                allowed=f"no iops, or volume_type {', '.join(IOPS)}",
                remedy="remove iops",
            )
        return
    given, most = wanted.iops or rule.default, rule.most(wanted.size_gib)
    if most < rule.smallest:
        yield fault(
            "size_gib",
            (
                f"is {wanted.size_gib}, too small for the {rule.smallest} IOPS that every "
                f"{wanted.volume_type} volume has"
            ),
            why=f"ParallelCluster allows at most {rule.for_each_gib} IOPS per GiB",
            allowed=f"{-(-rule.smallest // rule.for_each_gib)} or more",
            remedy=f"set size_gib: {-(-rule.smallest // rule.for_each_gib)}",
        )
    elif not rule.smallest <= given <= most:
        yield fault(
            "iops",
            f"is {given}",
            why=f"{wanted.volume_type} supports at most {rule.for_each_gib} IOPS per GiB",
            allowed=f"{rule.smallest} to {most} for this size",
            remedy=f"set iops: {rule.smallest if given < rule.smallest else most}",
        )


def _throughput(wanted: NewSharedEbs) -> Iterator[Contradiction]:
    given = wanted.throughput_mibps
    if given is None:
        return
    if wanted.volume_type != "gp3":
        yield fault(
            "throughput_mibps",
            f"is given for {wanted.volume_type}",
            why="only gp3 volumes have provisioned throughput",
            allowed="no throughput_mibps, or volume_type: gp3",
            remedy="remove throughput_mibps",
        )
        return
    smallest, largest = THROUGHPUT_MIBPS
    iops = wanted.iops or IOPS["gp3"].default
    if not smallest <= given <= largest:
        yield fault(
            "throughput_mibps",
            f"is {given}",
            why="EBS does not support this throughput for gp3",
            allowed=f"{smallest} to {largest}",
            remedy=f"set throughput_mibps: {smallest if given < smallest else largest}",
        )
    elif given * IOPS_FOR_EACH_MIBPS > iops:
        yield fault(
            "throughput_mibps",
            f"is {given} with {iops} IOPS",
            why=f"gp3 supports 1 MiB/s for every {IOPS_FOR_EACH_MIBPS} IOPS",
            allowed=f"at most {iops // IOPS_FOR_EACH_MIBPS} for these IOPS",
            remedy=f"set iops: {given * IOPS_FOR_EACH_MIBPS}, or reduce throughput_mibps",
        )


def _kept(wanted: NewSharedEbs) -> Iterator[Contradiction]:
    if wanted.final_snapshot and wanted.deletion_protection:
        yield fault(
            "final_snapshot",
            "is on for a volume that is kept",
            why="the snapshot is created when the volume is deleted",
            allowed="false, or deletion_protection: false",
            remedy="remove final_snapshot, or set deletion_protection: false",
        )


FileSystem = Annotated[
    Annotated[NewFsxLustre, AfterValidator(without_contradictions)]
    | ExistingFsxLustre
    | NewEfs
    | ExistingEfs
    | NewFsxOpenZfs
    | ExistingFsxOpenZfs
    | NewSharedEbs
    | ExistingSharedEbs,
    Field(discriminator="kind"),
]
