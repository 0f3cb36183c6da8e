"""Shared storage of a ParallelCluster has separate mount directories within its limits.

Why:
    Storage mounted over `/opt/slurm` or `/usr` hides files that the nodes need. Two file systems in
    the same directory, or one inside the other, hide each other. ParallelCluster rejects reserved
    and equal directories, but does not find nested ones. It creates one file system of each service
    and mounts at most 20.
Fix:
    Give each storage its own `MountDir`, such as `/fsx` (in a stack file: `mount_directory`).
Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/directories-v3.html
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import EnforcementLevel, Severity

from trainyard.components.catalog.parallelcluster import (
    MAXIMUM_EXISTING_FILE_SYSTEMS,
    MAXIMUM_NEW_FILE_SYSTEMS,
    RESERVED_DIRECTORIES,
)
from trainyard.policies.resources.parallelcluster import clusters
from trainyard.policies.resources.props import Facts, members, objects
from trainyard.policies.resources.types import CLOUDFORMATION_STACK
from trainyard.policies.rule import Config, resource_rule

_IDS = ("FileSystemId", "VolumeId", "FileCacheId")
_SERVICES = {"Efs": "EFS", "FileCache": "FSx"}


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    for cluster in clusters(facts.get("templateBody")):
        storage = objects(cluster, "SharedStorage")
        mounts = [(str(each.get("Name")), _directory(each)) for each in storage]
        yield from _faults([(name, where) for name, where in mounts if where])
        yield from _too_many(storage)


def _directory(storage: Mapping[str, Any]) -> str:
    directory = storage.get("MountDir")
    return "/" + directory.strip("/") if isinstance(directory, str) else ""


def _faults(mounts: list[tuple[str, str]]) -> Iterator[str]:
    for index, (name, directory) in enumerate(mounts):
        if directory in RESERVED_DIRECTORIES:
            yield (
                f"its storage {name} is mounted in {directory}, which the nodes need; set "
                "MountDir to a separate directory, such as /fsx"
            )
        for other, theirs in mounts[:index]:
            if f"{directory}/".startswith(f"{theirs}/") or f"{theirs}/".startswith(f"{directory}/"):
                yield (
                    f"its storage {name} is mounted in {directory} and {other} in {theirs}, where "
                    "one hides the other; set MountDir to directories that do not contain each "
                    "other"
                )


def _too_many(storage: list[Mapping[str, Any]]) -> Iterator[str]:
    counts: Counter[tuple[str, bool]] = Counter()
    for each in storage:
        kind = str(each.get("StorageType"))
        service = "FSx" if kind.startswith("Fsx") else _SERVICES.get(kind)
        settings = members(each, f"{kind}Settings")
        if service is not None:
            counts[service, any(settings.get(key) for key in _IDS)] += 1
    for (service, existing), count in counts.items():
        most = MAXIMUM_EXISTING_FILE_SYSTEMS if existing else MAXIMUM_NEW_FILE_SYSTEMS
        if count > most:
            verb = "mounts" if existing else "creates"
            yield (
                f"it {verb} {count} file systems of {service}, and ParallelCluster {verb} at most "
                f"{most}; remove some, or mount {'fewer' if existing else 'existing ones'}"
            )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["F10"],
    types=(CLOUDFORMATION_STACK,),
    check=_check,
)
