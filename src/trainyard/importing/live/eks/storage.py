"""The Lustre file systems in the VPC of a cluster, which the stack can adopt.

Sources:
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_FileSystem.html
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreFileSystemConfiguration.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.components.tagging import tag_map
from trainyard.importing.draft import Draft, plain_name
from trainyard.importing.live.answers import OWNER
from trainyard.importing.reader import Reader

CALL = "DescribeFileSystems"
GROUPS = "SecurityGroupIds"
"""Key that the program adds to an answer, as `OWNER`."""
_SETTINGS = {
    "DeploymentType": "deployment_type",
    "PerUnitStorageThroughput": "per_unit_storage_throughput",
    "DataCompressionType": "compression",
    "WeeklyMaintenanceStartTime": "weekly_maintenance",
}
_S3 = {
    "ImportPath": "import_path",
    "ExportPath": "export_path",
    "AutoImportPolicy": "auto_import",
}
_LONGEST_NAME = 30
_KEPT = "an adopted file system keeps it"


def read_storage(source: Reader, cluster: Draft) -> None:
    """Read file systems into `storage`: adopted, or as existing ones that the stack mounts."""
    for system in source.at(CALL).items():
        identity = str(system.at("FileSystemId").value)
        named = plain_name(tag_map(system.at("Tags").value).get("Name", identity))
        name = named[:_LONGEST_NAME].rstrip("-") or identity
        storage = cluster.section("storage")
        entry = storage.section(identity if storage.has(name) else name, system)
        why = _why_not(system, cluster.values["network"])
        if why:
            entry.put("kind", "existing-fsx-lustre")
            entry.take("file_system_id", system.at("FileSystemId"))
            _take_group(system, entry)
            source.report.notes.append(f"{identity} is mounted and not adopted: {why}")
            system.unsupported(f"the stack mounts it and does not own it: {why}")
        else:
            _read_adopted(system, entry)
            source.report.notes.append(
                f"{identity} becomes part of the stack with the next `up`: if it is not for this "
                f"cluster, remove storage.{entry.at[-1]}; if another tool has it, remove it there "
                "first, without deleting it"
            )


def _why_not(system: Reader, network: Mapping[str, Any]) -> str:
    owner = system.at(OWNER).value
    if owner:
        return f"it is part of {owner}, which would go on to change it, or delete it"
    if system.at("StorageType").value == "INTELLIGENT_TIERING":
        return "stacks have no file systems with Intelligent-Tiering"
    subnet = system.at("SubnetIds", 0).value
    if subnet not in network.get("private_subnet_ids", ()):
        return f"its subnet {subnet} is no private subnet of the stack"
    return ""


def _take_group(system: Reader, entry: Draft) -> None:
    first, *others = [*system.at(GROUPS).items()] or [system.at(GROUPS)]
    if first.value:
        entry.take("security_group_id", first)
    for each in others:
        each.implied("the stack adds its rules to the first group")


def _read_adopted(system: Reader, entry: Draft) -> None:
    entry.put("kind", "fsx-lustre")
    adopt, lustre = entry.section("adopt", system), system.at("LustreConfiguration")
    adopt.take("file_system_id", system.at("FileSystemId"))
    _take_group(system, adopt)
    entry.take("subnet_id", system.at("SubnetIds", 0))
    entry.take("storage_capacity_gib", system.at("StorageCapacity"))
    entry.take("storage_type", system.at("StorageType"))
    for theirs, ours in _SETTINGS.items():
        entry.take(ours, lustre.at(theirs))
    for theirs, ours in _S3.items():
        entry.take(ours, lustre.at("DataRepositoryConfiguration", theirs))
    if system.at("StorageType").value == "HDD":
        entry.take("drive_cache", lustre.at("DriveCacheType"))
    if lustre.at("EfaEnabled").value is True:
        entry.take("efa_enabled", lustre.at("EfaEnabled"))
    if lustre.at("MetadataConfiguration", "Mode").value == "USER_PROVISIONED":
        entry.take("metadata_iops", lustre.at("MetadataConfiguration", "Iops"))
    if lustre.at("AutomaticBackupRetentionDays").value:
        entry.take("backup_retention_days", lustre.at("AutomaticBackupRetentionDays"))
        entry.take("backup_time", lustre.at("DailyAutomaticBackupStartTime"))
    system.implied(_KEPT)
