"""Field types of shared storage, and the base model of all kinds."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from trainyard.components.config.base import EffectiveWith, Form, StrictModel, Switch

NOT_IN_PATHS = r"\s\\$`\"'&;|<>(){}\[\]*?!~#^,%:"
"""Characters that a mount directory cannot have, as part of a character class: ParallelCluster
passes it to shells and writes it to /etc/fstab and /etc/exports."""

BUCKET = (
    r"(?!xn--|sthree-|amzn-s3-demo-|(?:\d+\.){3}\d+(?:/|$)|[^/]*\.\.)"
    r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
)
"""Pattern of names that S3 accepts for a bucket: not formed like an address, without two dots side
by side and without a reserved prefix.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
"""
FsxId = Annotated[
    str,
    Form(
        # https://docs.aws.amazon.com/fsx/latest/APIReference/API_FileSystem.html, `FileSystemId`
        pattern=r"fs-[0-9a-f]{8,18}",
        expected="the id of a file system: `fs-` and hexadecimal digits",
        example="fs-0123456789abcdef0",
    ),
]
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_FileSystem.html, `DNSName`
FsxDnsName = Annotated[
    str,
    Form(
        pattern=r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,273}[A-Za-z0-9])?",
        expected="the DNS name of a file system",
        example="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    ),
]
FSX_DNS_NAME = re.compile(
    r"(?P<id>fs-[0-9a-f]{8,18})\.(?P<service>fsx|efs)\.(?P<region>[a-z0-9-]+)\.(?P<suffix>[a-z0-9.-]+?)"
    r"\.?",
    re.IGNORECASE,
)
"""DNS names that FSx and EFS give: the id of the file system, the service, the region and the DNS
suffix of its partition.

https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-ec2-instance.html
https://docs.aws.amazon.com/efs/latest/ug/mounting-fs-mount-cmd-dns-name.html
"""
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreFileSystemConfiguration.html,
# `MountName`
LustreMountName = Annotated[
    str,
    Form(
        pattern=r"[A-Za-z0-9_-]{1,8}",
        expected="the mount name of a Lustre file system: at most 8 letters, digits, `-` and `_`",
        example="abcdefgh",
    ),
]
# https://docs.aws.amazon.com/efs/latest/ug/API_CreateFileSystem.html, `FileSystemId`
EfsId = Annotated[
    str,
    Form(
        pattern=r"fs-(?:[0-9a-f]{8}|[0-9a-f]{17})",
        expected="the id of an EFS file system: `fs-` and 17 (or 8) hexadecimal digits",
        example="fs-0123456789abcdef0",
    ),
]
# https://docs.aws.amazon.com/efs/latest/ug/API_CreateAccessPoint.html, `AccessPointId`
AccessPointId = Annotated[
    str,
    Form(
        pattern=r"fsap-[0-9a-f]{17}",
        expected="the id of an EFS access point: `fsap-` and 17 hexadecimal digits",
        example="fsap-0123456789abcdef0",
        names="access-point",
    ),
]
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_DescribeVolumes.html, `VolumeIds`
FsxVolumeId = Annotated[
    str,
    Form(
        pattern=r"fsvol-[0-9a-f]{17}",
        expected="the id of an FSx volume: `fsvol-` and 17 hexadecimal digits",
        example="fsvol-0123456789abcdef0",
    ),
]
EbsVolumeId = Annotated[
    str,
    Form(
        pattern=r"vol-(?:[0-9a-f]{8}|[0-9a-f]{17})",
        expected="the id of an EBS volume: `vol-` and 17 (or 8) hexadecimal digits",
        example="vol-0123456789abcdef0",
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
        # A prefix is at most as long as a key:
        # https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html
        pattern=rf"s3://{BUCKET}(?:/[^\r\n]{{0,1024}})?",
        expected="an S3 bucket with an optional prefix",
        example="s3://training-data/imagenet/",
        names="s3-path",
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
        expected="a time of day in UTC, in quotes",
        example="03:00",
    ),
]
# https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
ClaimName = Annotated[
    str,
    Form(
        pattern=r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?",
        expected="a Kubernetes name: at most 63 lowercase letters, digits and hyphens",
        example="scratch",
    ),
]
MountOption = Annotated[
    str,
    Form(
        pattern=r"[a-z_]+(?:=[A-Za-z0-9._:/@%+-]+)?",
        expected="one option of `mount`",
        example="flock",
    ),
]
# https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html, `MountDir`: the
# schema of ParallelCluster also allows spaces, which a line of /etc/fstab cannot have.
MountDirectory = Annotated[
    str,
    Form(
        pattern=(
            rf"/[^{NOT_IN_PATHS}/.][^{NOT_IN_PATHS}/]*(?:/[^{NOT_IN_PATHS}/.][^{NOT_IN_PATHS}/]*)*"
        ),
        expected=(
            "one absolute directory without spaces, hidden parts, a trailing slash and shell "
            "metacharacters (for two directories, add two entries to `storage`)"
        ),
        example="/fsx",
    ),
]
OF_BACKUPS = EffectiveWith(
    (Switch("backup_retention_days"),), why="0 of `backup_retention_days` disables backups"
)
Event = Literal["NEW", "CHANGED", "DELETED"]


def s3_parts(address: str) -> tuple[str, str] | None:
    """Return the bucket and the key of an `s3://` address, the key empty without one; or None."""
    found = re.fullmatch(r"s3://([^/]+)(?:/(.*))?", address, re.DOTALL)
    return (found[1], found[2] or "") if found else None


# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html, `StorageCapacity`
StorageGib = Annotated[int, Field(ge=1, le=2**31 - 1)]


class MountedStorage(StrictModel):
    """The fields that every kind of shared storage has."""

    WHY_NOT_ON_EKS: ClassVar[str] = ""
    """Why pods do not mount it; empty if they do."""

    mount_directory: Annotated[
        MountDirectory | None,
        EffectiveWith(
            (Switch("/architecture.kind", ("parallelcluster",)),),
            why="it is a directory on the nodes of a ParallelCluster cluster; on EKS each "
            "container sets where it mounts a claim",
        ),
    ] = None
    """Directory where every node of a ParallelCluster cluster mounts it; required there. On EKS,
    pods specify their own mount paths."""
