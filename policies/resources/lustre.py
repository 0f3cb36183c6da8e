"""FSx for Lustre file systems, as resources and in ParallelCluster templates.

Source:
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from trainyard.components.config.fsx_lustre import LustreDeploymentType, StorageType
from trainyard.policies.resources.parallelcluster import clusters
from trainyard.policies.resources.props import UNKNOWN, Facts, is_true, members, number_of, objects
from trainyard.policies.resources.types import CLOUDFORMATION_STACK, LUSTRE_FILE_SYSTEM

LUSTRE_MAKERS = (LUSTRE_FILE_SYSTEM, CLOUDFORMATION_STACK)
"""Types that `lustre_systems` reads."""

_DEFAULT_TYPES: Mapping[str, LustreDeploymentType] = {
    LUSTRE_FILE_SYSTEM: "SCRATCH_1",
    CLOUDFORMATION_STACK: "SCRATCH_2",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lustre:
    """One new file system. Unknown values are `UNKNOWN`, missing ones None."""

    where: str = ""
    """Which part of the resource it is, as the beginning of a message; empty for the whole."""
    deployment_type: LustreDeploymentType
    storage_type: StorageType
    throughput: Any
    """MB/s for each TiB."""
    capacity: Any
    """GiB."""
    drive_cache: Any
    key: Any
    """The customer managed KMS key."""
    efa: bool


def lustre_systems(type_: str, facts: Facts) -> Iterator[Lustre]:
    """Yield the new file systems of a resource.

    It skips file systems from a backup, which determines their type and size, and file systems
    whose type is unknown or newer than `trainyard.components.config.fsx_lustre`.
    """
    if type_ == LUSTRE_FILE_SYSTEM:
        yield from _lustre(type_, "", lambda key: facts.needed(key[0].lower() + key[1:]))
        return
    for cluster in clusters(facts.get("templateBody")):
        for storage in objects(cluster, "SharedStorage"):
            if storage.get("StorageType") == "FsxLustre":
                settings = members(storage, "FsxLustreSettings")
                if not settings.get("FileSystemId"):
                    where = f"in its shared storage {storage.get('Name')}, "
                    yield from _lustre(type_, where, settings.get)


def _lustre(type_: str, where: str, get: Callable[[str], Any]) -> Iterator[Lustre]:
    deployment = get("DeploymentType") or _DEFAULT_TYPES[type_]
    storage = get("StorageType") or "SSD"
    known = deployment in get_args(LustreDeploymentType) and storage in get_args(StorageType)
    if get("BackupId") or not known:
        return
    yield Lustre(
        where=where,
        deployment_type=cast("LustreDeploymentType", deployment),
        storage_type=cast("StorageType", storage),
        throughput=_number(get("PerUnitStorageThroughput")),
        capacity=_number(get("StorageCapacity")),
        drive_cache=get("DriveCacheType"),
        key=get("KmsKeyId"),
        efa=is_true(get("EfaEnabled")),
    )


def _number(value: Any) -> Any:
    """Return a whole number; `UNKNOWN` for a value that CloudFormation computes."""
    if value is None or value is UNKNOWN:
        return value
    number = number_of(value)
    return UNKNOWN if number is None else int(number)
