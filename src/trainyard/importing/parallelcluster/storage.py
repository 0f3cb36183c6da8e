"""The shared storage of a ParallelCluster configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from trainyard.importing.draft import Draft
from trainyard.importing.reader import Reader

EBS_KEYS: Mapping[str, str] = {
    "VolumeType": "volume_type",
    "Size": "size_gib",
    "Iops": "iops",
    "Throughput": "throughput_mibps",
    "Encrypted": "encrypted",
}
EFS_KEYS: Mapping[str, str] = {
    "Encrypted": "encrypted",
    "PerformanceMode": "performance_mode",
    "ThroughputMode": "throughput_mode",
    "ProvisionedThroughput": "provisioned_throughput_mibps",
}
EFS_MOUNT: Mapping[str, str] = {
    "EncryptionInTransit": "encryption_in_transit",
    "IamAuthorization": "iam_authorization",
}
LUSTRE_KEYS: Mapping[str, str] = {
    "StorageCapacity": "storage_capacity_gib",
    "DeploymentType": "deployment_type",
    "StorageType": "storage_type",
    "PerUnitStorageThroughput": "per_unit_storage_throughput",
    "DriveCacheType": "drive_cache",
    "DataCompressionType": "compression",
    "ImportPath": "import_path",
    "ExportPath": "export_path",
    "AutoImportPolicy": "auto_import",
    "WeeklyMaintenanceStartTime": "weekly_maintenance",
    "AutomaticBackupRetentionDays": "backup_retention_days",
    "DailyAutomaticBackupStartTime": "backup_time",
}
"""Keys of the stack file by the keys of the settings."""
DEFAULT_SIZE_GIB = 40
"""Size of a volume that sets none, in aws-parallelcluster 3.16.1 (`pcluster/constants.py`)."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
"""Characters that ParallelCluster accepts in a name, as in `/data` (`SharedStorageNameValidator`),
but an entry of `storage` does not have."""
_NO_ARN = "write the ARN of the key into `kms_key_arn`: an id or an alias is not sufficient"


def read_storage(source: Reader, cluster: Draft) -> None:
    """Read one entry of `SharedStorage`."""
    readers = {"Ebs": _read_ebs, "Efs": _read_efs, "FsxLustre": _read_lustre}
    kind = source.at("StorageType").value
    name = str(source.at("Name").value)
    if kind not in readers and kind != "FsxOpenZfs":
        source.unsupported(
            f"a stack has no {kind}: mount it with a script in `custom_actions`, or move the data "
            "to `fsx-lustre`, `fsx-openzfs` or `efs`"
        )
        return
    plain = _NOT_IN_NAMES.sub("-", name).strip("-_") or "storage"
    entry = cluster.section("storage").section(plain, source)
    why = "" if plain == name else "entries are named with letters, digits, `-` and `_`"
    source.at("Name").claim("taken over", why, ours=entry.at)
    entry.take("mount_directory", source.at("MountDir"), change=_absolute)
    if kind == "FsxOpenZfs":
        entry.put("kind", "existing-fsx-openzfs")
        _take_object(entry, "volume_id", source.at("FsxOpenZfsSettings", "VolumeId"))
    else:
        readers[kind](source.at(f"{kind}Settings"), entry)
    source.at("StorageType").claim("taken over", ours=(*entry.at, "kind"))


def _absolute(directory: Any) -> Any:
    """Return a directory with a slash at the beginning, which ParallelCluster adds itself."""
    text = str(directory)
    return text if text.startswith("/") else f"/{text}"


def _take_object(entry: Draft, key: str, source: Reader) -> None:
    """Set the id of an existing object, which `check` refuses if it is none."""
    if not entry.take(key, source):
        entry.needs(key, "")


def _read_ebs(source: Reader, entry: Draft) -> None:
    if source.at("VolumeId").exists:
        entry.put("kind", "existing-ebs")
        _take_object(entry, "volume_id", source.at("VolumeId"))
        _drop_others(source, "an existing volume keeps its own settings")
        return
    entry.put("kind", "ebs")
    _take_all(source, entry, EBS_KEYS)
    if not entry.has("size_gib"):
        entry.put("size_gib", DEFAULT_SIZE_GIB)
    _take_key(source.at("KmsKeyId"), entry)
    raid = source.at("Raid")
    if raid.exists:
        array = entry.section("raid", raid)
        array.take("type", raid.at("Type"))
        array.take("number_of_volumes", raid.at("NumberOfVolumes"))
    _take_policy(source.at("DeletionPolicy"), entry)


def _read_efs(source: Reader, entry: Draft) -> None:
    existing = source.at("FileSystemId")
    entry.put("kind", "existing-efs" if existing.exists else "efs")
    for theirs, ours in EFS_MOUNT.items():
        entry.take_flag(ours, source.at(theirs))
    if existing.exists:
        entry.take("file_system_id", existing)
        entry.take("access_point_id", source.at("AccessPointId"))
        _drop_others(source, "an existing file system keeps its own settings")
        return
    _take_all(source, entry, EFS_KEYS)
    _take_key(source.at("KmsKeyId"), entry)
    _take_policy(source.at("DeletionPolicy"), entry)


def _read_lustre(source: Reader, entry: Draft) -> None:
    if source.at("FileSystemId").exists:
        entry.put("kind", "existing-fsx-lustre")
        entry.take("file_system_id", source.at("FileSystemId"))
        _drop_others(source, "an existing file system keeps its own settings", rule="F6")
        return
    entry.put("kind", "fsx-lustre")
    _take_all(source, entry, LUSTRE_KEYS)
    if not entry.has("deployment_type"):
        # The default of ParallelCluster; that of the stack file is PERSISTENT_2.
        entry.put("deployment_type", "SCRATCH_2")
    _take_key(source.at("KmsKeyId"), entry)
    _take_policy(source.at("DeletionPolicy"), entry)
    linked: list[dict[str, Any]] = []
    for index, each in enumerate(source.at("DataRepositoryAssociations").items()):
        link = Draft({}, (*entry.at, "data_repositories", index), entry.unknown)
        link.take("s3_path", each.at("DataRepositoryPath"))
        link.take("file_system_path", each.at("FileSystemPath"))
        # Without a policy, ParallelCluster imports nothing.
        if not link.take("import_events", each.at("AutoImportPolicy")):
            link.put("import_events", [])
        link.take("export_events", each.at("AutoExportPolicy"))
        linked.append(link.values)
    if linked:
        entry.put("data_repositories", linked)


def _take_all(source: Reader, entry: Draft, keys: Mapping[str, str]) -> None:
    for theirs, ours in keys.items():
        value = source.at(theirs)
        if theirs == "Encrypted":
            entry.take_flag(ours, value)
        else:
            entry.take(ours, value)


def _take_key(source: Reader, entry: Draft) -> None:
    if str(source.value or "").startswith("arn:"):
        entry.take("kms_key_arn", source)
    source.unsupported(_NO_ARN)


def _take_policy(source: Reader, entry: Draft) -> None:
    if source.value == "Snapshot":
        entry.put("final_snapshot", value=True)
    entry.take("deletion_protection", source, change=lambda policy: policy == "Retain")


def _drop_others(source: Reader, why: str, *, rule: str = "") -> None:
    for _, value in source.entries():
        value.claim("dropped", why, rule=rule)
