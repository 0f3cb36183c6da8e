"""File systems that a cluster mounts.

Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from components.config.base import Form, StrictModel

FsxId = Annotated[
    str,
    Form(
        pattern=r"fs-[0-9a-f]{8,17}",
        expected="the id of a file system: `fs-` and hexadecimal digits",
        example="fs-0123456789abcdef0",
    ),
]


class NewFsxLustre(StrictModel):
    """An FSx for Lustre file system that the stack makes."""

    kind: Literal["fsx-lustre"]
    """FSx for Lustre, new."""
    deployment_type: Literal["SCRATCH_2", "PERSISTENT_2"] = "PERSISTENT_2"
    """Durability. Changing it replaces the file system."""
    storage_capacity_gib: Annotated[int, Field(ge=1200, multiple_of=1200)] = 1200
    """Capacity in GiB: 1200, 2400, then steps of 2400."""
    per_unit_throughput_mibps: Literal[125, 250, 500, 1000] | None = None
    """Throughput of a TiB in MiB/s; `PERSISTENT_2` only."""


class ExistingFsxLustre(StrictModel):
    """An FSx for Lustre file system that exists."""

    kind: Literal["existing-fsx-lustre"]
    """FSx for Lustre, existing."""
    file_system_id: FsxId
    """The file system."""


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
