"""Amazon EFS: NFS file systems that grow automatically and are reachable from every zone.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html, `EfsSettings`
"""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from trainyard.components.config.base import KmsKeyArn
from trainyard.components.config.contradictions import Contradiction, fault, key_faults, raise_all
from trainyard.components.config.storage_fields import AccessPointId, EfsId, MountedStorage

MOST_PROVISIONED_MIBPS = 1024
"""Maximum of ParallelCluster's schema, in MiB/s."""


class _EfsMount(MountedStorage):
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
    kms_key_arn: KmsKeyArn | None = None
    """KMS key that encrypts the data. If omitted, the AWS managed key of EFS."""
    deletion_protection: bool = True
    """Whether the file system is kept when the cluster is deleted."""

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


def _throughput(wanted: NewEfs) -> Iterator[Contradiction]:
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
