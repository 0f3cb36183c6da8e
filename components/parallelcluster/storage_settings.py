"""ParallelCluster settings of an entry of `storage`.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html, and
`schemas/cluster_schema.py` of the package `aws-parallelcluster`, version 3.16.1.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

from trainyard.components.config.fsx_lustre import DataRepository, ExistingFsxLustre, NewFsxLustre
from trainyard.components.config.storage import (
    ExistingEfs,
    ExistingFsxOpenZfs,
    ExistingSharedEbs,
    FileSystem,
    NewEfs,
    NewFsxOpenZfs,
    NewSharedEbs,
)
from trainyard.components.parallelcluster.references import Reference

Settings = dict[str, Any]
StorageType = Literal["Ebs", "Efs", "FsxLustre", "FsxOpenZfs"]

STORAGE_TYPES: Mapping[StorageType, str] = {
    "FsxLustre": "FSx for Lustre",
    "FsxOpenZfs": "FSx for OpenZFS",
    "Efs": "EFS",
    "Ebs": "EBS volume of the head node",
}
"""What users call each type, the fastest for many nodes first: the head node shares an EBS volume
over NFS."""
_TYPES: Mapping[str, StorageType] = {
    "ebs": "Ebs",
    "efs": "Efs",
    "fsx-lustre": "FsxLustre",
    "fsx-openzfs": "FsxOpenZfs",
}
STORAGE_KEYS: Mapping[str, str] = {
    "MountDir": "mount_directory",
    "StorageType": "kind",
    "EbsSettings.Size": "size_gib",
    "EbsSettings.Iops": "iops",
    "EbsSettings.Throughput": "throughput_mibps",
    "EbsSettings.KmsKeyId": "kms_key_arn",
    "EfsSettings.ThroughputMode": "throughput_mode",
    "EfsSettings.ProvisionedThroughput": "provisioned_throughput_mibps",
    "EfsSettings.PerformanceMode": "performance_mode",
    "EfsSettings.Encrypted": "encrypted",
    "EfsSettings.KmsKeyId": "kms_key_arn",
    "EfsSettings.EncryptionInTransit": "encryption_in_transit",
    "EfsSettings.IamAuthorization": "iam_authorization",
    "EfsSettings.AccessPointId": "access_point_id",
    "EfsSettings.FileSystemId": "file_system_id",
    "FsxLustreSettings.StorageCapacity": "storage_capacity_gib",
    "FsxLustreSettings.DeploymentType": "deployment_type",
    "FsxLustreSettings.PerUnitStorageThroughput": "per_unit_storage_throughput",
    "FsxLustreSettings.StorageType": "storage_type",
    "FsxLustreSettings.DriveCacheType": "drive_cache",
    "FsxLustreSettings.KmsKeyId": "kms_key_arn",
    "FsxLustreSettings.ImportPath": "import_path",
    "FsxLustreSettings.ExportPath": "export_path",
    "FsxLustreSettings.AutoImportPolicy": "auto_import",
    "FsxLustreSettings.DataRepositoryAssociations": "data_repositories",
    "FsxLustreSettings.FileSystemId": "file_system_id",
}
"""Stack file key of each setting of an entry of `SharedStorage`."""
_LONGEST_LABEL = 20
_DIGEST_DIGITS = 8


def storage_type(wanted: FileSystem) -> StorageType:
    """Return `StorageType` of an entry."""
    return _TYPES[wanted.kind.removeprefix("existing-")]


def is_new(wanted: FileSystem) -> bool:
    """Return whether an entry is new, created by ParallelCluster or by the stack."""
    return not wanted.kind.startswith("existing-")


def storage_settings(name: str, wanted: FileSystem) -> Settings:
    """Return the type-specific settings of an entry; values can be a `Reference`."""
    if isinstance(wanted, NewFsxOpenZfs):
        # ParallelCluster cannot create OpenZFS; it mounts the root volume of the file system from
        # the stack.
        return {"VolumeId": Reference("open-zfs-volume", name)}
    found = _SETTINGS[wanted.kind](wanted)
    return {key: value for key, value in found.items() if value is not None}


def _ebs(wanted: NewSharedEbs) -> Settings:
    gone = "Snapshot" if wanted.final_snapshot else "Delete"
    raid = wanted.raid
    return {
        "VolumeType": wanted.volume_type,
        "Size": wanted.size_gib,
        "Iops": wanted.iops,
        "Throughput": wanted.throughput_mibps,
        "Encrypted": wanted.encrypted,
        "KmsKeyId": wanted.kms_key_arn,
        "Raid": {"Type": raid.type, "NumberOfVolumes": raid.number_of_volumes} if raid else None,
        "DeletionPolicy": "Retain" if wanted.deletion_protection else gone,
    }


def _existing_ebs(wanted: ExistingSharedEbs) -> Settings:
    return {"VolumeId": wanted.volume_id}


def _transit(wanted: NewEfs | ExistingEfs) -> Settings:
    return {
        "EncryptionInTransit": wanted.encryption_in_transit or None,
        "IamAuthorization": wanted.iam_authorization or None,
    }


def _efs(wanted: NewEfs) -> Settings:
    return {
        "Encrypted": wanted.encrypted,
        "KmsKeyId": wanted.kms_key_arn,
        "PerformanceMode": wanted.performance_mode,
        "ThroughputMode": wanted.throughput_mode,
        "ProvisionedThroughput": wanted.provisioned_throughput_mibps,
        **_transit(wanted),
        "DeletionPolicy": _retain_or_delete(kept=wanted.deletion_protection),
    }


def _existing_efs(wanted: ExistingEfs) -> Settings:
    return {
        "FileSystemId": wanted.file_system_id,
        "AccessPointId": wanted.access_point_id,
        **_transit(wanted),
    }


def _lustre(wanted: NewFsxLustre) -> Settings:
    return {
        "StorageCapacity": wanted.storage_capacity_gib,
        "DeploymentType": wanted.deployment_type,
        "StorageType": wanted.storage_type,
        "PerUnitStorageThroughput": wanted.per_unit_storage_throughput,
        # Omitting these means NONE in ParallelCluster.
        "DriveCacheType": _unless_none(wanted.drive_cache),
        "DataCompressionType": _unless_none(wanted.compression),
        "AutoImportPolicy": _unless_none(wanted.auto_import),
        "KmsKeyId": wanted.kms_key_arn,
        "ImportPath": wanted.import_path,
        "ExportPath": wanted.export_path,
        "WeeklyMaintenanceStartTime": wanted.weekly_maintenance,
        **_backups(wanted),
        "DataRepositoryAssociations": [_association(each) for each in wanted.data_repositories]
        or None,
        "DeletionPolicy": _retain_or_delete(kept=wanted.deletion_protection),
    }


def _unless_none(value: str | None) -> str | None:
    return None if value == "NONE" else value


def _retain_or_delete(*, kept: bool) -> str:
    return "Retain" if kept else "Delete"


def _backups(wanted: NewFsxLustre) -> Settings:
    if not wanted.backup_retention_days:
        return {}
    return {
        "AutomaticBackupRetentionDays": wanted.backup_retention_days,
        "DailyAutomaticBackupStartTime": wanted.backup_time,
        "CopyTagsToBackups": True,
    }


def _association(wanted: DataRepository) -> Settings:
    found = {
        "Name": association_name(wanted),
        "BatchImportMetaDataOnCreate": True,
        "DataRepositoryPath": wanted.s3_path,
        "FileSystemPath": wanted.file_system_path,
        "AutoExportPolicy": list(wanted.export_events),
        "AutoImportPolicy": list(wanted.import_events),
    }
    return {key: value for key, value in found.items() if value != []}


def association_name(wanted: DataRepository) -> str:
    """Return the name of a data repository association, part of a CloudFormation logical id.

    It contains only letters and digits, at most 30. It depends on both ends of the association:
    neither can be changed in place, but associations can be added and removed.
    """
    ends = f"{wanted.file_system_path} {wanted.s3_path}"
    label = re.sub(r"[^A-Za-z0-9]", "", wanted.file_system_path)[:_LONGEST_LABEL] or "root"
    return label + hashlib.sha256(ends.encode()).hexdigest()[:_DIGEST_DIGITS]


def _existing_lustre(wanted: ExistingFsxLustre) -> Settings:
    return {"FileSystemId": wanted.file_system_id}


def _existing_open_zfs(wanted: ExistingFsxOpenZfs) -> Settings:
    return {"VolumeId": wanted.volume_id}


_SETTINGS: Mapping[str, Callable[[Any], Settings]] = {
    "ebs": _ebs,
    "existing-ebs": _existing_ebs,
    "efs": _efs,
    "existing-efs": _existing_efs,
    "fsx-lustre": _lustre,
    "existing-fsx-lustre": _existing_lustre,
    "existing-fsx-openzfs": _existing_open_zfs,
}
