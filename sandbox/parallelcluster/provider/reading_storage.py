"""Reads the shared storage that a cluster creates; existing storage is only mounted.

Runs in the environment with aws-parallelcluster; source of every default:
https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/templates/cluster_stack.py
(`_add_managed_fsx`, `_add_efs_storage`, `_add_cfn_volume`, `_add_raid_volume`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from trainyard.sandbox.parallelcluster.provider.model import SharedStorage

_RETAIN = "Retain"
_EXISTING = ("volume_id", "file_system_id", "file_cache_id")
"""Keys that name existing storage, which the cluster only mounts."""


def shared_storage(loaded: Any) -> Iterator[SharedStorage]:
    """Yield each file system and volume that the cluster of a loaded configuration creates."""
    for each in loaded.shared_storage or ():
        if any(getattr(each, attribute, None) for attribute in _EXISTING):
            continue
        kind = each.shared_storage_type.name
        if kind == "FSX":
            yield _lustre(loaded, each)
        elif kind == "EFS":
            yield _efs(loaded, each)
        else:
            yield from _volumes(loaded, each)


def _lustre(loaded: Any, fsx: Any) -> SharedStorage:
    drive_cache = (fsx.drive_cache_type or "NONE") if fsx.fsx_storage_type == "HDD" else None
    lustre = _given(
        {
            "DeploymentType": fsx.deployment_type,
            "DataCompressionType": fsx.data_compression_type,
            "ImportedFileChunkSize": fsx.imported_file_chunk_size,
            "ExportPath": fsx.export_path,
            "ImportPath": fsx.import_path,
            "WeeklyMaintenanceStartTime": fsx.weekly_maintenance_start_time,
            "AutomaticBackupRetentionDays": fsx.automatic_backup_retention_days,
            "CopyTagsToBackups": fsx.copy_tags_to_backups,
            "DailyAutomaticBackupStartTime": fsx.daily_automatic_backup_start_time,
            "PerUnitStorageThroughput": fsx.per_unit_storage_throughput,
            "AutoImportPolicy": fsx.auto_import_policy,
            "DriveCacheType": drive_cache,
        }
    )
    settings = _given(
        {
            "FileSystemType": "LUSTRE",
            "StorageCapacity": fsx.storage_capacity,
            "StorageType": fsx.fsx_storage_type,
            "KmsKeyId": fsx.kms_key_id,
            "FileSystemTypeVersion": fsx.file_system_type_version,
            "LustreConfiguration": lustre,
        }
    )
    return SharedStorage(
        kind="fsx",
        name=fsx.name,
        is_retained=fsx.deletion_policy == _RETAIN,
        settings=settings,
        subnet_ids=(loaded.compute_subnet_ids[0],),
        associations=tuple(map(_association, fsx.data_repository_associations or ())),
    )


def _association(association: Any) -> dict[str, Any]:
    policies = {
        "AutoExportPolicy": association.auto_export_policy,
        "AutoImportPolicy": association.auto_import_policy,
    }
    s3 = {name: {"Events": events} for name, events in policies.items() if events}
    return _given(
        {
            "BatchImportMetaDataOnCreate": association.batch_import_meta_data_on_create,
            "DataRepositoryPath": association.data_repository_path,
            "FileSystemPath": association.file_system_path,
            "ImportedFileChunkSize": association.imported_file_chunk_size,
            "S3": s3 or None,
            "Tags": [{"Key": "Name", "Value": association.name}],
        }
    )


def _efs(loaded: Any, efs: Any) -> SharedStorage:
    settings = _given(
        {
            "Encrypted": efs.encrypted,
            "KmsKeyId": efs.kms_key_id,
            "PerformanceMode": efs.performance_mode,
            "ThroughputMode": efs.throughput_mode,
            "ProvisionedThroughputInMibps": efs.provisioned_throughput,
        }
    )
    zone_of = import_module("pcluster.aws.aws_api").AWSApi.instance().ec2.get_subnet_avail_zone
    by_zone: dict[str, str] = {}
    for subnet_id in (*loaded.compute_subnet_ids, loaded.head_node.networking.subnet_id):
        by_zone.setdefault(zone_of(subnet_id), subnet_id)
    return SharedStorage(
        kind="efs",
        name=efs.name,
        is_retained=efs.deletion_policy == _RETAIN,
        settings=settings,
        subnet_ids=tuple(by_zone.values()),
    )


def _volumes(loaded: Any, ebs: Any) -> Iterator[SharedStorage]:
    settings = _given(
        {
            "AvailabilityZone": loaded.head_node.networking.availability_zone,
            "Encrypted": ebs.encrypted,
            "Iops": ebs.iops,
            "Throughput": ebs.throughput,
            "KmsKeyId": ebs.kms_key_id,
            "Size": ebs.size,
            "SnapshotId": ebs.snapshot_id,
            "VolumeType": ebs.volume_type,
        }
    )
    count = ebs.raid.number_of_volumes if ebs.raid else 1
    for number in range(count):
        yield SharedStorage(
            kind="ebs",
            name=ebs.name if count == 1 else f"{ebs.name}-{number}",
            is_retained=ebs.deletion_policy == _RETAIN,
            settings=settings,
            subnet_ids=(),
        )


def _given(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}
