"""Checks of shared storage against the limits of ParallelCluster.

Sources, all of the package `aws-parallelcluster`, version 3.16.1: `SharedStorageNameValidator`
and `NumberOfStorageValidator` in `validators/cluster_validators.py`, the counts in `constants.py`,
`FsxLustreSettingsSchema` in `schemas/cluster_schema.py`; and
https://docs.aws.amazon.com/parallelcluster/latest/ug/shared-storage-quotas-v3.html.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from trainyard.components.config.efs import ExistingEfs
from trainyard.components.config.fsx_lustre import ExistingFsxLustre, NewFsxLustre
from trainyard.components.config.open_zfs import ExistingFsxOpenZfs
from trainyard.components.config.parallelcluster_stack import ParallelClusterStackConfig
from trainyard.components.config.review import Review
from trainyard.components.config.shared_ebs import ExistingSharedEbs, NewSharedEbs
from trainyard.components.config.storage import FileSystem

LONGEST_NAME = 30
FORBIDDEN_NAME = "default"
BUSY_EBS_NODES = 100
"""Number of nodes from which ParallelCluster warns about EBS volumes shared by the head node."""
_OF_KUBERNETES = ("claim_name", "claim_namespace", "mount_options")
_EXISTING_LUSTRE_ID = re.compile(r"fs-[0-9a-f]{17}")

_OWN_STACK = (
    "create it in a separate stack, and mount it here as kind: existing-fsx-lustre; or remove it"
)
_REMOVE = "remove"
_BY_ITSELF = ("ParallelCluster reads it from the account itself", _REMOVE)
_IN_QUEUES = ("ParallelCluster creates the file system in the subnet of the queues", _REMOVE)
_NOT_OF_NEW: Mapping[str, tuple[str, str]] = {
    "efa_enabled": ("ParallelCluster does not create file systems with EFA", _OWN_STACK),
    "metadata_iops": ("ParallelCluster does not provision metadata IOPS", _OWN_STACK),
    "subnet_id": _IN_QUEUES,
    "availability_zone": _IN_QUEUES,
    "adopt": (
        "ParallelCluster creates its file systems itself, and takes over none",
        "mount it as kind: existing-fsx-lustre, which keeps it when the cluster is deleted",
    ),
}
"""Unsupported keys of a new FSx for Lustre file system: the reason and the remedy."""
_NOT_OF_EXISTING: Mapping[str, tuple[str, str]] = {
    "security_group_id": (
        (
            "ParallelCluster creates the security groups of the nodes itself, after it has "
            "checked that the file system allows their subnets"
        ),
        "allow the subnets of the cluster on TCP 988 and 1018-1023, and remove it",
    ),
    "dns_name": _BY_ITSELF,
    "mount_name": _BY_ITSELF,
    "storage_capacity_gib": _BY_ITSELF,
}
"""The same for an existing file system."""


@dataclass(frozen=True, slots=True)
class _Limit:
    what: str
    most: int
    counts: Callable[[FileSystem], bool]
    remedy: str


def _is_raid(wanted: FileSystem) -> bool:
    return isinstance(wanted, NewSharedEbs) and wanted.raid is not None


_LIMITS = (
    _Limit(
        "new FSx for Lustre file system",
        1,
        lambda wanted: isinstance(wanted, NewFsxLustre),
        "create the others in a separate stack, and mount them as kind: existing-fsx-lustre",
    ),
    _Limit(
        "new EFS file system",
        1,
        lambda wanted: wanted.kind == "efs",
        "mount the others as kind: existing-efs",
    ),
    _Limit("RAID of EBS volumes", 1, _is_raid, "remove raid from the others"),
    _Limit(
        "EBS volumes without RAID",
        5,
        lambda wanted: wanted.kind.endswith("ebs") and not _is_raid(wanted),
        "combine them with a larger size_gib, or use EFS or FSx",
    ),
    _Limit(
        "existing FSx file systems, including every OpenZFS volume",
        20,
        lambda wanted: wanted.kind == "existing-fsx-lustre" or wanted.kind.endswith("openzfs"),
        "remove some",
    ),
    _Limit(
        "existing EFS file systems", 20, lambda wanted: wanted.kind == "existing-efs", "remove some"
    ),
)


def review_storage(config: ParallelClusterStackConfig, review: Review) -> None:
    """Record problems of single entries and of all entries together."""
    for name, wanted in config.storage.items():
        _review_name(name, review)
        _review_kubernetes_keys(name, wanted, review)
        _review_lustre(name, wanted, review)
    _review_counts(config, review)
    _review_ids(config, review)
    _note_busy_head_node(config, review)


def _review_name(name: str, review: Review) -> None:
    if len(name) > LONGEST_NAME:
        review.refuse(
            f"storage.{name}",
            f"has a name of {len(name)} characters, which ParallelCluster does not support",
            found=name,
            allowed=f"at most {LONGEST_NAME} characters",
            remedy=f"rename this entry, for example to `{name[:LONGEST_NAME].rstrip('-_')}`",
        )
    if name == FORBIDDEN_NAME:
        review.refuse(
            f"storage.{name}",
            "has a name that ParallelCluster reserves",
            found=name,
            allowed="another name",
            remedy="rename this entry, for example to `shared`",
        )


def _review_kubernetes_keys(name: str, wanted: FileSystem, review: Review) -> None:
    for key in _OF_KUBERNETES:
        if key in wanted.model_fields_set:
            review.refuse(
                f"storage.{name}.{key}",
                "sets how pods of an EKS cluster mount it; a ParallelCluster cluster has no pods",
                found=getattr(wanted, key),
                allowed=f"no {key}, and mount_directory instead",
                remedy=review.remove_command(f"storage.{name}.{key}"),
            )


def _review_lustre(name: str, wanted: FileSystem, review: Review) -> None:
    if isinstance(wanted, NewFsxLustre):
        _refuse_keys(name, wanted, _NOT_OF_NEW, review)
    if not isinstance(wanted, ExistingFsxLustre):
        return
    _refuse_keys(name, wanted, _NOT_OF_EXISTING, review)
    if not _EXISTING_LUSTRE_ID.fullmatch(wanted.file_system_id):
        review.refuse(
            f"storage.{name}.file_system_id",
            "is an id that ParallelCluster does not accept",
            found=wanted.file_system_id,
            allowed="`fs-` and 17 hexadecimal digits",
            remedy="set the complete id of the file system",
        )


def _refuse_keys(
    name: str, wanted: FileSystem, keys: Mapping[str, tuple[str, str]], review: Review
) -> None:
    for key, (reason, way_out) in keys.items():
        value = getattr(wanted, key)
        if value is None or value is False:
            continue
        remove = review.remove_command(f"storage.{name}.{key}")
        review.refuse(
            f"storage.{name}.{key}",
            f"cannot be set: {reason}",
            found=value,
            allowed=f"no {key}",
            remedy=remove if way_out == _REMOVE else way_out,
        )


def _review_counts(config: ParallelClusterStackConfig, review: Review) -> None:
    for limit in _LIMITS:
        names = [name for name, wanted in config.storage.items() if limit.counts(wanted)]
        if len(names) > limit.most:
            review.refuse(
                "storage",
                f"has {len(names)} of these: {limit.what}; a ParallelCluster cluster can have at "
                f"most {limit.most}",
                found=", ".join(names),
                allowed=f"at most {limit.most}",
                remedy=limit.remedy,
                rules=("F10",),
            )


def _review_ids(config: ParallelClusterStackConfig, review: Review) -> None:
    seen: dict[str, str] = {}
    for name, wanted in config.storage.items():
        key, value = _existing_id(wanted)
        other = seen.setdefault(value, name) if value else name
        if other != name:
            review.refuse(
                f"storage.{name}.{key}",
                f"is mounted by storage.{other} already; ParallelCluster can mount it only once",
                found=value,
                allowed="another one",
                remedy=f"remove storage.{name}, and link its directory to that of storage.{other}",
            )


def _existing_id(wanted: FileSystem) -> tuple[str, str | None]:
    if isinstance(wanted, ExistingFsxLustre | ExistingEfs):
        return "file_system_id", wanted.file_system_id
    if isinstance(wanted, ExistingFsxOpenZfs | ExistingSharedEbs):
        return "volume_id", wanted.volume_id
    return "", None


def _note_busy_head_node(config: ParallelClusterStackConfig, review: Review) -> None:
    nodes = sum(
        resource.maximum
        for queue in config.architecture.queues.values()
        for resource in queue.compute_resources.values()
    )
    shared = [name for name, wanted in config.storage.items() if wanted.kind.endswith("ebs")]
    if shared and nodes > BUSY_EBS_NODES:
        review.note(
            f"storage {', '.join(shared)}: one head node shares it with up to {nodes} nodes; EFS "
            "and FSx are faster"
        )
