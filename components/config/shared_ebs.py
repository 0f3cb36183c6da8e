"""Amazon EBS volumes that the head node of a ParallelCluster cluster shares over NFS.

Sources:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html, `EbsSettings`
    The validators of `aws-parallelcluster` 3.16.1, `validators/ebs_validators.py`: newer limits of
        EBS (80,000 IOPS for gp3) are not supported by ParallelCluster.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from trainyard.components.config.base import KmsKeyArn, StrictModel
from trainyard.components.config.contradictions import Contradiction, fault, key_faults, raise_all
from trainyard.components.config.storage_fields import EbsVolumeId, MountedStorage

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


class NewSharedEbs(MountedStorage):
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
    kms_key_arn: KmsKeyArn | None = None
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


class ExistingSharedEbs(MountedStorage):
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
    yield from key_faults(kms_key_arn=wanted.kms_key_arn, encrypted=wanted.encrypted)
    if wanted.final_snapshot and wanted.deletion_protection:
        yield fault(
            "final_snapshot",
            "is on for a volume that is kept",
            why="the snapshot is created when the volume is deleted",
            allowed="false, or deletion_protection: false",
            remedy="remove final_snapshot, or set deletion_protection: false",
        )
