"""Amazon EFS: file systems over NFS that grow by themselves and are reached from every zone.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html, `EfsSettings`
"""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from components.config.base import KmsKeyArn
from components.config.contradictions import Contradiction, fault, key_faults, raise_all
from components.config.storage_fields import AccessPointId, EfsId, MountedStorage

MOST_PROVISIONED_MIBPS = 1024
"""What ParallelCluster's schema takes, in MiB/s."""


class _EfsMount(MountedStorage):
    encryption_in_transit: bool = False
    """Whether nodes reach it over TLS."""
    iam_authorization: bool = False
    """Whether nodes show their IAM role when they mount it; needs `encryption_in_transit`."""


class NewEfs(_EfsMount):
    """An EFS file system that ParallelCluster makes, with a mount target in each zone."""

    kind: Literal["efs"]
    """Amazon EFS, new."""
    throughput_mode: Literal["bursting", "provisioned"] = "bursting"
    """`bursting`: it grows with what is stored. `provisioned`: bought, see
    `provisioned_throughput_mibps`. ParallelCluster makes no elastic ones."""
    provisioned_throughput_mibps: Annotated[int, Field(ge=1, le=MOST_PROVISIONED_MIBPS)] | None = (
        None
    )
    """Throughput in MiB/s, with `throughput_mode: provisioned`."""
    performance_mode: Literal["generalPurpose", "maxIO"] = "generalPurpose"
    """`maxIO` takes more operations a second, each of which lasts longer. It can never be
    changed."""
    encrypted: bool = True
    """Whether the data is encrypted. It can never be changed."""
    kms_key_arn: KmsKeyArn | None = None
    """KMS key that encrypts the data; left out, the key of EFS itself."""
    deletion_protection: bool = True
    """Whether the file system outlives the cluster."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        raise_all(
            (
                *_throughput(self),
                *key_faults(kms_key_arn=self.kms_key_arn, encrypted=self.encrypted),
                *_transit(self),
            )
        )
        return self


class ExistingEfs(_EfsMount):
    """An EFS file system that exists; it needs a mount target in each zone of the cluster."""

    kind: Literal["existing-efs"]
    """Amazon EFS, existing."""
    file_system_id: EfsId
    """The file system, in the cluster's VPC."""
    access_point_id: AccessPointId | None = None
    """Access point through which nodes mount it; needs `encryption_in_transit`."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        raise_all((*_transit(self), *_access_point(self)))
        return self


def _throughput(wanted: NewEfs) -> Iterator[Contradiction]:
    provisioned = wanted.throughput_mode == "provisioned"
    if provisioned == (wanted.provisioned_throughput_mibps is not None):
        return
    yield fault(
        "provisioned_throughput_mibps",
        "is missing" if provisioned else "is given for the throughput mode bursting",
        why="a provisioned throughput is bought, and no other",
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
            why="EFS takes the IAM role over TLS only",
            allowed="false, or encryption_in_transit: true",
            remedy="add encryption_in_transit: true",
        )


def _access_point(wanted: ExistingEfs) -> Iterator[Contradiction]:
    if wanted.access_point_id is not None and not wanted.encryption_in_transit:
        yield fault(
            "access_point_id",
            "is given without encryption_in_transit",
            why="access points are mounted over TLS only",
            allowed="no access_point_id, or encryption_in_transit: true",
            remedy="add encryption_in_transit: true",
        )
