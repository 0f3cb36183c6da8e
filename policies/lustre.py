"""FSx for Lustre file systems, as a program makes them and as a ParallelCluster does.

Source:
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from components.config.lustre_rules import DeploymentType, StorageType
from policies.clusters import clusters
from policies.documents import members, objects
from policies.props import UNKNOWN, Facts, is_true, number_of
from policies.resource_types import CLOUDFORMATION_STACK, LUSTRE_FILE_SYSTEM

LUSTRE_MAKERS = (LUSTRE_FILE_SYSTEM, CLOUDFORMATION_STACK)
"""Types that `lustre_systems` reads."""

_DEFAULT_TYPES: Mapping[str, DeploymentType] = {
    LUSTRE_FILE_SYSTEM: "SCRATCH_1",
    CLOUDFORMATION_STACK: "SCRATCH_2",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lustre:
    """One new file system. A value that is not known yet is `UNKNOWN`, a missing one None."""

    where: str = ""
    """Which part of the resource it is, as the beginning of a message; empty for all of it."""
    deployment_type: DeploymentType
    storage_type: StorageType
    throughput: Any
    """MB/s for each TiB, a whole number."""
    capacity: Any
    """GiB, a whole number."""
    drive_cache: Any
    key: Any
    """The customer's KMS key."""
    efa: bool


def lustre_systems(type_: str, facts: Facts) -> Iterator[Lustre]:
    """Yield the file systems that a resource makes anew.

    One made from a backup takes its type and its size from there; one whose type is not known yet,
    or is newer than `components.config.lustre_rules`, is left out.
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
    known = deployment in get_args(DeploymentType) and storage in get_args(StorageType)
    if get("BackupId") or not known:
        return
    yield Lustre(
        where=where,
        deployment_type=cast("DeploymentType", deployment),
        storage_type=cast("StorageType", storage),
        throughput=_number(get("PerUnitStorageThroughput")),
        capacity=_number(get("StorageCapacity")),
        drive_cache=get("DriveCacheType"),
        key=get("KmsKeyId"),
        efa=is_true(get("EfaEnabled")),
    )


def _number(value: Any) -> Any:
    """Return a whole number; `UNKNOWN` also for what CloudFormation computes."""
    if value is None or value is UNKNOWN:
        return value
    number = number_of(value)
    return UNKNOWN if number is None else int(number)
