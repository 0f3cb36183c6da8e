"""The plan of a new FSx for OpenZFS file system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trainyard.components.config.open_zfs import DeploymentType, NewFsxOpenZfs
from trainyard.components.storage.fsx_lustre_plan import STORAGE_TAG

NFS_PORTS = ((111, 111), (2049, 2049), (20001, 20003))
"""Port ranges that clients use, over TCP and UDP.

https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html
"""
NFS_OPTIONS = ("rw", "crossmnt", "no_root_squash")
"""NFS options of the root volume: the head node creates directories as root.

https://docs.aws.amazon.com/fsx/latest/APIReference/API_OpenZFSClientConfiguration.html
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenZfsPlan:
    """A new FSx for OpenZFS file system, which ParallelCluster cannot create."""

    name: str
    """Key in `storage`."""
    storage_capacity_gib: int
    throughput_capacity_mbps: int
    """MB/s."""
    deployment_type: DeploymentType
    compression: str
    kms_key_arn: str | None
    weekly_maintenance: str | None
    backup_retention_days: int
    backup_time: str | None
    subnets: tuple[str, ...]
    """References of the `NetworkPlan`; exactly one after the account was queried."""
    clients: tuple[str, ...]
    """References of the client subnets."""
    deletion_protection: bool
    tags: Mapping[str, str]


def plan_open_zfs(
    name: str,
    wanted: NewFsxOpenZfs,
    *,
    subnets: tuple[str, ...],
    clients: tuple[str, ...],
    tags: Mapping[str, str],
) -> OpenZfsPlan:
    """Return the plan of a file system in one of these subnets."""
    return OpenZfsPlan(
        name=name,
        storage_capacity_gib=wanted.storage_capacity_gib,
        throughput_capacity_mbps=wanted.throughput_capacity_mbps,
        deployment_type=wanted.deployment_type,
        compression=wanted.compression,
        kms_key_arn=wanted.kms_key_arn,
        weekly_maintenance=wanted.weekly_maintenance,
        backup_retention_days=wanted.backup_retention_days,
        backup_time=wanted.backup_time,
        subnets=subnets,
        clients=clients,
        deletion_protection=wanted.deletion_protection,
        tags={**tags, STORAGE_TAG: name},
    )
