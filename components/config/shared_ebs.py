"""Amazon EBS volumes that the head node of a ParallelCluster shares over NFS.

Sources:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html, `EbsSettings`
    The validators of `aws-parallelcluster` 3.16.1, `validators/ebs_validators.py`: what EBS itself
    has grown to since (80,000 operations of gp3) ParallelCluster does not take.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from components.config.base import KmsKeyArn, StrictModel
from components.config.contradictions import Contradiction, fault, key_faults, raise_all
from components.config.storage_fields import EbsVolumeId, MountedStorage

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
    """Operations a second that can be bought."""

    smallest: int
    largest: int
    for_each_gib: int
    default: int
    """What ParallelCluster asks for where nothing is said."""

    def most(self, size_gib: int) -> int:
        """Return the most for a volume of this size."""
        return min(self.largest, self.for_each_gib * size_gib)


IOPS: Mapping[VolumeType, IopsRule] = {
    "gp3": IopsRule(3000, 16000, 500, 3000),
    "io1": IopsRule(100, 64000, 50, 100),
    "io2": IopsRule(100, 256000, 1000, 100),
}
"""By the volume types that sell them."""
THROUGHPUT_MIBPS = (125, 1000)
"""Smallest and largest throughput of gp3 in MiB/s."""
IOPS_FOR_EACH_MIBPS = 4


class Raid(StrictModel):
    """Several volumes that are used as one."""

    type: Literal[0, 1]
    """0: striped, faster. 1: mirrored, safer."""
    number_of_volumes: Annotated[int, Field(ge=2, le=5)] = 2
    """How many volumes of this kind."""


class NewSharedEbs(MountedStorage):
    """A volume that ParallelCluster makes, in the zone of the head node."""

    kind: Literal["ebs"]
    """Amazon EBS, new."""
    volume_type: VolumeType = "gp3"
    """Type of the volume. It can never be changed."""
    size_gib: Annotated[int, Field(ge=1, le=65536)]
    """Size in GiB: 1 to 16384 (`gp2`, `gp3`), 4 to 16384 (`io1`), 4 to 65536 (`io2`), 500 to 16384
    (`st1`, `sc1`), 1 to 1024 (`standard`). It can never be changed."""
    iops: Annotated[int, Field(ge=1)] | None = None
    """Operations a second, of `gp3` (3000 to 16000), `io1` and `io2`; left out, the fewest."""
    throughput_mibps: Annotated[int, Field(ge=1)] | None = None
    """Throughput of `gp3` in MiB/s, 125 to 1000; left out, 125."""
    encrypted: bool = True
    """Whether the data is encrypted. It can never be changed."""
    kms_key_arn: KmsKeyArn | None = None
    """KMS key that encrypts the data; left out, the key of EBS itself."""
    raid: Raid | None = None
    """Several volumes as one; at most one such entry in a cluster."""
    deletion_protection: bool = True
    """Whether the volume outlives the cluster."""
    final_snapshot: bool = False
    """Whether a snapshot of the volume is kept when it goes; without `deletion_protection`."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        raise_all((*_size(self), *_iops(self), *_throughput(self), *_kept(self)))
        return self


class ExistingSharedEbs(MountedStorage):
    """A volume that exists, in the zone of the head node; the stack shares it and keeps it."""

    kind: Literal["existing-ebs"]
    """Amazon EBS, existing."""
    volume_id: EbsVolumeId
    """The volume; it is attached to nothing."""


def _size(wanted: NewSharedEbs) -> Iterator[Contradiction]:
    smallest, largest = SIZES_GIB[wanted.volume_type]
    if not smallest <= wanted.size_gib <= largest:
        nearest = smallest if wanted.size_gib < smallest else largest
        yield fault(
            "size_gib",
            f"is {wanted.size_gib}",
            why=f"EBS has no {wanted.volume_type} volume of this size",
            allowed=f"{smallest} to {largest}",
            remedy=f"give size_gib: {nearest}, or another volume_type",
        )


def _iops(wanted: NewSharedEbs) -> Iterator[Contradiction]:
    rule = IOPS.get(wanted.volume_type)
    if rule is None:
        if wanted.iops is not None:
            yield fault(
                "iops",
                f"is given for {wanted.volume_type}",
                why="the operations of this type follow from its size",
                allowed=f"no iops, or volume_type {', '.join(IOPS)}",
                remedy="remove iops",
            )
        return
    given, most = wanted.iops or rule.default, rule.most(wanted.size_gib)
    if most < rule.smallest:
        yield fault(
            "size_gib",
            f"is {wanted.size_gib}, too little for the {rule.smallest} operations a second that "
            f"every {wanted.volume_type} volume has",
            why=f"ParallelCluster refuses more than {rule.for_each_gib} for each GiB",
            allowed=f"{-(-rule.smallest // rule.for_each_gib)} or more",
            remedy=f"give size_gib: {-(-rule.smallest // rule.for_each_gib)}",
        )
    elif not rule.smallest <= given <= most:
        yield fault(
            "iops",
            f"is {given}",
            why=f"{wanted.volume_type} has at most {rule.for_each_gib} for each GiB",
            allowed=f"{rule.smallest} to {most} for this size",
            remedy=f"give iops: {rule.smallest if given < rule.smallest else most}",
        )


def _throughput(wanted: NewSharedEbs) -> Iterator[Contradiction]:
    given = wanted.throughput_mibps
    if given is None:
        return
    if wanted.volume_type != "gp3":
        yield fault(
            "throughput_mibps",
            f"is given for {wanted.volume_type}",
            why="only gp3 sells throughput",
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
            why="EBS has no such gp3 volume",
            allowed=f"{smallest} to {largest}",
            remedy=f"give throughput_mibps: {smallest if given < smallest else largest}",
        )
    elif given * IOPS_FOR_EACH_MIBPS > iops:
        yield fault(
            "throughput_mibps",
            f"is {given} with {iops} operations a second",
            why=f"gp3 has 1 MiB/s for every {IOPS_FOR_EACH_MIBPS} of them",
            allowed=f"at most {iops // IOPS_FOR_EACH_MIBPS} for these operations",
            remedy=f"give iops: {given * IOPS_FOR_EACH_MIBPS}, or less throughput",
        )


def _kept(wanted: NewSharedEbs) -> Iterator[Contradiction]:
    yield from key_faults(kms_key_arn=wanted.kms_key_arn, encrypted=wanted.encrypted)
    if wanted.final_snapshot and wanted.deletion_protection:
        yield fault(
            "final_snapshot",
            "is on for a volume that is kept",
            why="a snapshot is made when the volume goes",
            allowed="false, or deletion_protection: false",
            remedy="remove final_snapshot, or add deletion_protection: false",
        )
