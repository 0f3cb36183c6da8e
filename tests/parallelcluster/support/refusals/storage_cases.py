"""Shared storage that does not fit its kind or the directories of the nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.parallelcluster.support.refusals.case import (
    PRIVATE_A,
    PRIVATE_B,
    QUEUES,
    YAML_QUEUES,
    Case,
)
from tests.parallelcluster.support.refusals.cluster_cases import SCHEMA

_FSX, _YAML_FSX = "storage.fsx", "SharedStorage.fsx"
_LUSTRE = f"{_YAML_FSX}.FsxLustreSettings"
_OVERLAP = (
    "the check of ParallelCluster 3.16.1 (OverlappingMountDirValidator) compares the names of the "
    "entries in place of their directories; one mount hides the other"
)
_APPS, _EBS = "storage.apps", "SharedStorage.apps.EbsSettings"


def _ebs(number: int) -> dict[str, Any]:
    return {"kind": "ebs", "mount_directory": f"/disk{number}", "size_gib": 100}


def _yaml_ebs(name: str, directory: str) -> dict[str, Any]:
    return {"Name": name, "StorageType": "Ebs", "MountDir": directory}


def _mounted(name: str, directory: str, *validators: str, why: str = "") -> Case:
    return Case(
        name=name,
        ours={f"{_APPS}.mount_directory": directory},
        theirs={"SharedStorage.apps.MountDir": directory},
        path=f"{_APPS}.mount_directory",
        validators=validators,
        why=why,
    )


STORAGE_CASES = (
    _mounted(
        "storage in a directory of the system", "/opt/slurm", "SharedStorageMountDirValidator"
    ),
    replace(
        _mounted("storage in the directory of other storage", "/fsx", "DuplicateMountDirValidator"),
        path=f"{_FSX}.mount_directory",
    ),
    replace(
        _mounted("storage inside of other storage", "/fsx/apps", why=_OVERLAP),
        path=f"{_FSX}.mount_directory",
    ),
    _mounted("storage inside of the scratch disks", "/scratch/a", why=_OVERLAP),
    _mounted(
        "storage in the directory of the scratch disks",
        "/scratch",
        why="ParallelCluster only warns, and one of the two is not seen",
    ),
    _mounted(
        "a directory with a blank",
        "/apps /more",
        why="the form that ParallelCluster tests lets blanks through; the mount fails",
    ),
    Case(
        name="new storage without a directory",
        ours={f"{_APPS}.mount_directory": ...},
        theirs={"SharedStorage.apps.MountDir": ...},
        path=f"{_APPS}.mount_directory",
        validators=SCHEMA,
    ),
    Case(
        name="two new Lustre file systems",
        ours={
            "storage.more": {
                "kind": "fsx-lustre",
                "deployment_type": "SCRATCH_2",
                "mount_directory": "/more",
            }
        },
        theirs={
            "SharedStorage.+": {
                "Name": "more",
                "StorageType": "FsxLustre",
                "MountDir": "/more",
                "FsxLustreSettings": {"StorageCapacity": 1200, "DeploymentType": "SCRATCH_2"},
            }
        },
        path="storage",
        validators=("NumberOfStorageValidator",),
    ),
    Case(
        name="two new EFS file systems",
        ours={
            "storage.one": {"kind": "efs", "mount_directory": "/one"},
            "storage.two": {"kind": "efs", "mount_directory": "/two"},
        },
        theirs={
            "SharedStorage": [
                {"Name": name, "StorageType": "Efs", "MountDir": f"/{name}"}
                for name in ("one", "two")
            ]
        },
        path="storage",
        validators=("NumberOfStorageValidator",),
    ),
    Case(
        name="six EBS volumes",
        ours={"storage": {f"disk{number}": _ebs(number) for number in range(6)}},
        theirs={"SharedStorage": [_yaml_ebs(f"disk{n}", f"/disk{n}") for n in range(6)]},
        path="storage",
        validators=("NumberOfStorageValidator",),
    ),
    Case(
        name="a new Lustre file system, and queues in two subnets",
        ours={f"{QUEUES}.open.subnet_ids": [PRIVATE_A]},
        theirs={f"{YAML_QUEUES}.open.Networking.SubnetIds": [PRIVATE_A]},
        path=f"{_FSX}.kind",
        validators=("ManagedFsxMultiAzValidator",),
    ),
    Case(
        name="a capacity that Lustre does not have",
        ours={f"{_FSX}.storage_capacity_gib": 1300},
        theirs={f"{_LUSTRE}.StorageCapacity": 1300},
        path=f"{_FSX}.storage_capacity_gib",
        validators=("FsxStorageCapacityValidator",),
    ),
    Case(
        name="a throughput that Lustre does not have",
        ours={f"{_FSX}.per_unit_storage_throughput": 300},
        theirs={f"{_LUSTRE}.PerUnitStorageThroughput": 300},
        path=f"{_FSX}.per_unit_storage_throughput",
        validators=("FsxStorageTypeOptionsValidator",),
    ),
    Case(
        name="persistent Lustre without throughput",
        ours={f"{_FSX}.per_unit_storage_throughput": ...},
        theirs={f"{_LUSTRE}.PerUnitStorageThroughput": ...},
        path=f"{_FSX}.per_unit_storage_throughput",
        validators=("FsxPersistentOptionsValidator",),
    ),
    Case(
        name="a throughput for scratch Lustre",
        ours={f"{_FSX}.deployment_type": "SCRATCH_2"},
        theirs={f"{_LUSTRE}.DeploymentType": "SCRATCH_2"},
        path=f"{_FSX}.per_unit_storage_throughput",
        validators=("FsxPersistentOptionsValidator", "FsxStorageTypeOptionsValidator"),
    ),
    Case(
        name="EBS with more operations than its size has",
        ours={f"{_APPS}.size_gib": 10, f"{_APPS}.iops": 6000},
        theirs={f"{_EBS}.Size": 10, f"{_EBS}.Iops": 6000},
        path=f"{_APPS}.iops",
        validators=("EbsVolumeIopsValidator",),
    ),
    Case(
        name="EBS with more throughput than its operations carry",
        ours={f"{_APPS}.iops": 3000, f"{_APPS}.throughput_mibps": 800},
        theirs={f"{_EBS}.Iops": 3000, f"{_EBS}.Throughput": 800},
        path=f"{_APPS}.throughput_mibps",
        validators=("EbsVolumeThroughputIopsValidator",),
    ),
    Case(
        name="a name of storage of 31 characters",
        ours={f"storage.{'a' * 31}": _ebs(1)},
        theirs={"SharedStorage.+": _yaml_ebs("a" * 31, "/disk1")},
        path=f"storage.{'a' * 31}",
        validators=("SharedStorageNameValidator",),
    ),
    Case(
        name="an existing file system whose id is none",
        ours={
            "storage.old": {
                "kind": "existing-fsx-lustre",
                "file_system_id": "fsx-1",
                "mount_directory": "/old",
            }
        },
        theirs={
            "SharedStorage.+": {
                "Name": "old",
                "StorageType": "FsxLustre",
                "MountDir": "/old",
                "FsxLustreSettings": {"FileSystemId": "fsx-1"},
            }
        },
        path="storage.old.file_system_id",
        validators=SCHEMA,
    ),
    Case(
        name="two existing file systems in one stack file entry each, both the same",
        ours={
            f"storage.{name}": {
                "kind": "existing-fsx-lustre",
                "file_system_id": "fs-0f5c0000000000001",
                "mount_directory": f"/{name}",
            }
            for name in ("old", "older")
        },
        theirs={
            "SharedStorage": [
                {
                    "Name": name,
                    "StorageType": "FsxLustre",
                    "MountDir": f"/{name}",
                    "FsxLustreSettings": {"FileSystemId": "fs-0f5c0000000000001"},
                }
                for name in ("old", "older")
            ]
        },
        path="storage.older.file_system_id",
        validators=("DuplicateNameValidator",),
    ),
    Case(
        name="how pods mount it",
        ours={f"{_FSX}.claim_name": "data"},
        path=f"{_FSX}.claim_name",
        why="the YAML has no pods",
    ),
    Case(
        name="storage in a subnet that no node is in",
        ours={f"{_FSX}.subnet_id": PRIVATE_B},
        path=f"{_FSX}.subnet_id",
        why="the YAML has no subnet for it: ParallelCluster takes that of the queues",
    ),
)
