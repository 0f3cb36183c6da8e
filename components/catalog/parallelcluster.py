"""ParallelCluster limits, reserved names and operating systems.

Source: the package `aws-parallelcluster`, version 3.16.1 (`PARALLELCLUSTER_VERSION`), whose modules
are named below; https://github.com/aws/aws-parallelcluster/tree/v3.16.1/cli/src/pcluster
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

NAME_LIMIT = 60
"""Maximum characters of a cluster name. `constants.py`, `PCLUSTER_NAME_MAX_LENGTH`."""
NAME_PATTERN = r"[a-zA-Z][a-zA-Z0-9-]*"
"""`constants.py`, `PCLUSTER_NAME_REGEX`."""

FORBIDDEN_NAME = "default"
"""Name that queues and compute resources cannot have. `cluster_validators.py`, `NameValidator`."""

MAXIMUM_QUEUES = 50
"""`constants.py`, `MAX_NUMBER_OF_QUEUES`."""
MAXIMUM_COMPUTE_RESOURCES = 50
"""Of all queues together. `constants.py`, `MAX_NUMBER_OF_COMPUTE_RESOURCES_PER_CLUSTER`."""

MAXIMUM_TAGS = 40
"""Tags of a cluster, including those of the program. `constants.py`, `MAX_TAGS_COUNT`."""
RESERVED_TAG_PREFIX = "parallelcluster:"
"""`constants.py`, `PCLUSTER_PREFIX`."""

MINIMUM_ROOT_VOLUME_GIB = 45
"""Size that is enough for every official AMI. `constants.py`, `EBS_ROOT_VOLUME_SIZE_DEFAULT`."""

CAPACITY_BLOCK_UNSUPPORTED_REGIONS = ("us-iso",)
"""Region prefixes. `constants.py`, `UNSUPPORTED_FEATURES_MAP`."""

OPERATING_SYSTEMS_WITHOUT_AMI = ("rocky8", "rocky9")
"""Operating systems for which AWS publishes no AMI. `constants.py`, `PRIVATE_OSES`."""
OPERATING_SYSTEMS_WITHOUT_RSA_KEYS = ("ubuntu2204", "ubuntu2404")
"""Their OpenSSH does not accept EC2 RSA keys. `ec2_validators.py`, `KeyPairValidator`."""

DEFAULT_USERS: Mapping[str, str] = MappingProxyType(
    {
        "alinux2023": "ec2-user",
        "ubuntu2204": "ubuntu",
        "ubuntu2404": "ubuntu",
        "rhel8": "ec2-user",
        "rhel9": "ec2-user",
        "rocky8": "rocky",
        "rocky9": "rocky",
    }
)
"""Login user, by operating system. `constants.py`, `OS_MAPPING`;
https://docs.aws.amazon.com/parallelcluster/latest/ug/Image-v3.html#yaml-Image-Os"""

RESERVED_DIRECTORIES = frozenset(
    {
        *("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/media", "/mnt", "/opt"),
        *("/opt/parallelcluster", "/opt/parallelcluster/shared"),
        *("/opt/parallelcluster/shared_login_nodes", "/opt/slurm", "/opt/intel"),
        *("/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/usr", "/var"),
        "/tmp",  # noqa: S108 - the name of a directory, not a file in it
    }
)
"""Directories of ParallelCluster or the operating system, where nothing can be mounted.

`cluster_validators.py`, `SharedStorageMountDirValidator`."""
MAXIMUM_NEW_FILE_SYSTEMS, MAXIMUM_EXISTING_FILE_SYSTEMS = 1, 20
"""Maximum new and existing file systems of one service (EFS, FSx) in a cluster. `constants.py`,
`MAX_NEW_STORAGE_COUNT` and `MAX_EXISTING_STORAGE_COUNT`."""

RESERVATION_PLATFORMS: Mapping[str, str] = MappingProxyType(
    {
        "alinux2023": "Linux/UNIX",
        "ubuntu2204": "Linux/UNIX",
        "ubuntu2404": "Linux/UNIX",
        "rhel8": "Red Hat Enterprise Linux",
        "rhel9": "Red Hat Enterprise Linux",
        "rocky8": "Linux/UNIX",
        "rocky9": "Linux/UNIX",
    }
)
"""Required platform of a capacity reservation, by operating system. `constants.py`,
`CAPACITY_RESERVATION_OS_MAP`."""

_IMAGE_NAME_PARTS: Mapping[str, str] = MappingProxyType(
    {
        "alinux2023": "amzn2023-hvm",
        "ubuntu2204": "ubuntu-2204-lts-hvm",
        "ubuntu2404": "ubuntu-2404-lts-hvm",
        "rhel8": "rhel8-hvm",
        "rhel9": "rhel9-hvm",
    }
)
# `constants.py`, `OS_TO_IMAGE_NAME_PART_MAP`, without the systems that have no official AMI.


def official_image_name(version: str, operating_system: str, architecture: str) -> str | None:
    """Return the name prefix of the official ParallelCluster AMI; None if there is none.

    `aws/ec2.py`, `get_official_image_id`; a date follows.
    """
    part = _IMAGE_NAME_PARTS.get(operating_system)
    return f"aws-parallelcluster-{version}-{part}-{architecture}" if part else None


OPERATING_SYSTEM_MEMORY_GIB = 0.6
NODES_PER_GIB = 25
MOST_HEAD_NODE_MEMORY_GIB = 16
"""Maximum memory requirement of a head node, which is 0.6 GiB plus 1 GiB per 25 nodes.

`cluster_validators.py`, `HeadNodeMemorySizeValidator`.
"""

DENIED_SLURM_SETTINGS = frozenset(
    {
        "epilog",
        "grestypes",
        "launchparameters",
        "prolog",
        "reconfigflags",
        "resumefailprogram",
        "resumeprogram",
        "resumetimeout",
        "slurmctldhost",
        "slurmctldlogfile",
        "slurmctldparameters",
        "slurmdlogfile",
        "slurmuser",
        "suspendexcnodes",
        "suspendprogram",
        "suspendtime",
        "taskplugin",
        "treewidth",
    }
)
"""Parameters of `slurm.conf` that ParallelCluster sets itself, in lowercase.

`slurm_settings_validator.py`, `SLURM_SETTINGS_DENY_LIST`, as the two below;
https://docs.aws.amazon.com/parallelcluster/latest/ug/slurm-configuration-settings-v3.html
"""
DENIED_PARTITION_SETTINGS = frozenset(
    {"nodes", "oversubscribe", "partitionname", "resumetimeout", "state", "suspendtime"}
)
DENIED_NODE_SETTINGS = frozenset(
    {"cpus", "gres", "nodeaddr", "nodehostname", "nodename", "state", "weight"}
)
MANAGED_NODE_MARKS = ("-st-", "-dy-")
"""Parts of the names of managed nodes, which other nodes cannot have."""

REGIONS = frozenset(
    {
        "af-south-1",
        "ap-east-1",
        "ap-northeast-1",
        "ap-northeast-2",
        "ap-south-1",
        "ap-southeast-1",
        "ap-southeast-2",
        "ap-southeast-3",
        "ap-southeast-5",
        "ap-southeast-7",
        "ca-central-1",
        "cn-north-1",
        "cn-northwest-1",
        "eu-central-1",
        "eu-north-1",
        "eu-south-1",
        "eu-west-1",
        "eu-west-2",
        "eu-west-3",
        "il-central-1",
        "me-south-1",
        "sa-east-1",
        "us-east-1",
        "us-east-2",
        "us-gov-east-1",
        "us-gov-west-1",
        "us-iso-east-1",
        "us-iso-west-1",
        "us-isob-east-1",
        "us-west-1",
        "us-west-2",
    }
)
"""Regions that ParallelCluster supports. `resources/supported-regions`."""

TYPICAL_CREATION_MINUTES = 8
TYPICAL_FILE_SYSTEM_MINUTES = 10
"""Minutes that CloudFormation typically takes for a cluster, and for a new FSx file system, which
comes before the head node.

7m59s with ParallelCluster 3.8.0:
https://dev.classmethod.jp/articles/accelerating-aws-parallelcluster-cloudformation-stack-creation/;
about 10 minutes: https://github.com/aws-samples/aws-hpc-tutorials/pull/289
"""
