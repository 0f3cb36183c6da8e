"""FSx for Lustre file systems of Terraform."""

from __future__ import annotations

from trainyard.importing.draft import Draft, StackDraft, plain_name
from trainyard.importing.placeholders import is_id
from trainyard.importing.reader import Reader
from trainyard.importing.terraform.blocks import Blocks, name_in_address
from trainyard.importing.terraform.source_keys import take, take_number

_KEYS = {
    "storage_type": "storage_type",
    "per_unit_storage_throughput": "per_unit_storage_throughput",
    "drive_cache_type": "drive_cache",
    "data_compression_type": "compression",
    "kms_key_id": "kms_key_arn",
    "import_path": "import_path",
    "export_path": "export_path",
    "auto_import_policy": "auto_import",
    "weekly_maintenance_start_time": "weekly_maintenance",
    "automatic_backup_retention_days": "backup_retention_days",
    "daily_automatic_backup_start_time": "backup_time",
    "efa_enabled": "efa_enabled",
}


def read_storage(blocks: Blocks, stack: StackDraft) -> None:
    """Read the FSx for Lustre file systems; one that exists, in a state, is used as it is."""
    for block in blocks.of("aws_fsx_lustre_file_system"):
        name = plain_name(name_in_address(block))
        entry = stack.cluster.section("storage").section(name, block)
        if is_id(block.at("id").value, "fs"):
            entry.put("kind", "existing-fsx-lustre")
            entry.take("file_system_id", block.at("id"))
            block.implied("the stack mounts the file system and never changes it")
        else:
            _read_new(block, entry)


def _read_new(block: Reader, entry: Draft) -> None:
    entry.put("kind", "fsx-lustre")
    take_number(entry, "storage_capacity_gib", block.at("storage_capacity"))
    if not take(entry, "deployment_type", block.at("deployment_type")):
        entry.put("deployment_type", "SCRATCH_1")  # the default of the resource and of FSx
    for theirs, ours in _KEYS.items():
        if block.at(theirs).value not in (None, ""):
            take(entry, ours, block.at(theirs))
    metadata = block.at("metadata_configuration", 0)
    take_number(entry, "metadata_iops", metadata.at("iops"))
    for each in block.at("subnet_ids").items():
        if is_id(each.value, "subnet"):
            entry.take("subnet_id", each)
        each.implied("the file system is in the zone of the node groups with EFA")
