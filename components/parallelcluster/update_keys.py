"""Stack file keys of cluster configuration settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from components.config.keys import path_of
from components.config.problems import ROOT

# Lists with named items; the name follows the list in a path.
_LISTS = frozenset({"SlurmQueues", "ComputeResources", "SharedStorage", "Tags"})


def _under(there: str, here: str, keys: Mapping[str, str]) -> dict[str, str]:
    below = {f"{there}.{theirs}": f"{here}.{ours}" for theirs, ours in keys.items()}
    return {there: here, **below}


_ROOT_VOLUME = {
    "RootVolume": "root_volume",
    "RootVolume.Size": "root_volume.size_gib",
    "RootVolume.Iops": "root_volume.iops",
    "RootVolume.Throughput": "root_volume.throughput_mibps",
}
_NODES = {
    "CustomActions": "custom_actions",
    "CustomActions.OnNodeStart": "custom_actions.on_node_start",
    "CustomActions.OnNodeConfigured": "custom_actions.on_node_configured",
    "Iam": "iam_policies",
    "Iam.S3Access": "s3_access",
}
_HEAD_NODE = {
    "InstanceType": "instance_type",
    "Networking.SubnetId": "subnet_id",
    "Ssh": "ssh",
    "Ssh.KeyName": "ssh.key_name",
    "Ssh.AllowedIps": "ssh.allowed_cidr",
    **{f"LocalStorage.{theirs}": ours for theirs, ours in _ROOT_VOLUME.items()},
    **_NODES,
}
_QUEUE = {
    "CapacityType": "purchase_option",
    "CapacityReservationTarget": "purchase_option",
    "AllocationStrategy": "allocation_strategy",
    "ComputeSettings.LocalStorage.EphemeralVolume": "scratch_directory",
    **{f"ComputeSettings.LocalStorage.{theirs}": ours for theirs, ours in _ROOT_VOLUME.items()},
    **_NODES,
    "Image": "custom_ami_id",
    "Networking.SubnetIds": "subnet_ids",
    # Every compute resource has a placement; equal placements are rendered at the queue.
    "Networking.PlacementGroup": "compute_resources",
    "HealthChecks": "gpu_health_check",
    "CustomSlurmSettings": "slurm_settings",
    "JobExclusiveAllocation": "exclusive_jobs",
    "ComputeResources": "compute_resources",
}
_COMPUTE_RESOURCE = {
    "InstanceType": "instance_type",
    "Instances": "instance_type",
    "MinCount": "minimum",
    "MaxCount": "maximum",
    "Efa": "efa_enabled",
    "DisableSimultaneousMultithreading": "simultaneous_multithreading",
    "SchedulableMemory": "schedulable_memory_mib",
    "CapacityReservationTarget": "purchase_option",
    "Networking": "placement",
    "CustomSlurmSettings": "slurm_settings",
}
_SLURM = {
    "ScaledownIdletime": "idle_minutes",
    "QueueUpdateStrategy": "queue_update_strategy",
    "EnableMemoryBasedScheduling": "memory_based_scheduling",
    "CustomSlurmSettings": "settings",
}
_STORAGE = {
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
_MONITORING = {
    "DetailedMonitoring": "detailed",
    "Logs": "logs",
    "Logs.CloudWatch.RetentionInDays": "log_retention_days",
    "Logs.CloudWatch.DeletionPolicy": "keep_logs",
    "Dashboards": "dashboard",
    "Alarms": "alarms",
}
_KEYS: Mapping[str, str] = {
    "Image.Os": "architecture.operating_system",
    "Image.CustomAmi": "architecture.custom_ami_id",
    **_under("HeadNode", "architecture.head_node", _HEAD_NODE),
    "Scheduling.ScalingStrategy": "architecture.slurm.scaling_strategy",
    **_under("Scheduling.SlurmSettings", "architecture.slurm", _SLURM),
    "Scheduling.SlurmQueues": "architecture.queues",
    **_under("Scheduling.SlurmQueues.*", "architecture.queues.*", _QUEUE),
    **_under(
        "Scheduling.SlurmQueues.*.ComputeResources.*",
        "architecture.queues.*.compute_resources.*",
        _COMPUTE_RESOURCE,
    ),
    "SharedStorage": "storage",
    **_under("SharedStorage.*", "storage.*", _STORAGE),
    **_under("Monitoring", "architecture.monitoring", _MONITORING),
    "Tags": "tags",
    "Tags.*": "tags.*",
}


def stack_key(path: tuple[str, ...]) -> str:
    """Return the stack file key of a setting, or of its nearest parent section.

    Args:
        path: Path of the setting, with item names as separate steps:
            `("Scheduling", "SlurmQueues", "gpu", "CapacityType")`.

    Returns:
        The key in the syntax of `pulumi config set --path`, such as
        `trainyard:cluster.architecture.queues.gpu.purchase_option`.
    """
    if path == ("Region",):
        return "aws:region"
    parts = list(_with_stars(path))
    for length in range(len(parts), 0, -1):
        ours = _KEYS.get(".".join(parts[:length]))
        if ours is not None:
            names = iter([path[n] for n in range(length) if parts[n] == "*"])
            return path_of(tuple(next(names) if key == "*" else key for key in ours.split(".")))
    return ROOT


def _with_stars(path: tuple[str, ...]) -> Iterator[str]:
    for before, part in zip(("", *path), path, strict=False):
        yield "*" if before in _LISTS else part
