"""Lustre file systems as FSx describes them: ids, names, states and network interfaces.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_FileSystem.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from moto.ec2.models import ec2_backends
from moto.fsx.exceptions import FileSystemNotFound
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.fsx.checks import (
    check_lustre,
    check_network,
    check_s3,
    refuse,
    storage_step,
)
from trainyard.sandbox.aws.state import state_of
from trainyard.sandbox.aws.transitions import TRANSITIONS

TYPES = {
    "LUSTRE": "aws:fsx/lustreFileSystem:LustreFileSystem",
    "OPENZFS": "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
}
"""Pulumi's types of file systems, by FSx type."""
CREATED = 1763683200.0
"""Creation time in seconds; constant, so that all runs are the same."""
DEFAULT_VERSION = "2.10"
_MOUNT_NAME_DIGITS = 8


@dataclass
class LustreRecords:
    """Data that moto cannot store, by id."""

    described: dict[str, dict[str, Any]] = field(default_factory=dict)
    associations: dict[str, dict[str, Any]] = field(default_factory=dict)


def records_of(backend: Any) -> LustreRecords:
    """Return the records of moto's FSx backend."""
    return state_of(backend, LustreRecords)


def create(
    backend: Any, wanted: Mapping[str, Any], *, identifier: str | None = None
) -> dict[str, Any]:
    """Create a Lustre file system and return its description.

    Args:
        backend: moto's backend of FSx.
        wanted: Parameters of CreateFileSystem.
        identifier: Its id; None generates one.
    """
    lustre = dict(wanted.get("LustreConfiguration") or {})
    lustre.setdefault("DeploymentType", "SCRATCH_1")
    storage_type, capacity = wanted.get("StorageType", "SSD"), wanted.get("StorageCapacity", 0)
    check_lustre(capacity, storage_type, lustre)
    check_s3(lustre)
    ec2 = ec2_backends[backend.account_id][backend.region_name]
    subnet = _subnet(ec2, wanted["SubnetIds"])
    groups = wanted.get("SecurityGroupIds") or []
    efa = bool(lustre.get("EfaEnabled"))
    check_network(ec2, subnet, groups, efa=efa)
    step = storage_step(lustre["DeploymentType"], storage_type, lustre)
    interfaces = _interfaces(ec2, subnet, groups, servers=1 + -(-capacity // step))
    identifier = identifier or f"fs-{mock_random.get_random_hex(17)}"
    made = _record(backend, identifier, wanted, lustre)
    made["VpcId"] = subnet.vpc_id
    made["NetworkInterfaceIds"] = interfaces
    records_of(backend).described[made["FileSystemId"]] = made
    if wanted.get("Tags"):
        backend.tagger.tag_resource(made["ResourceARN"], wanted["Tags"])
    become_available(made, TYPES["LUSTRE"])
    return describe(backend, made["FileSystemId"])


def become_available(record: dict[str, Any], type_: str) -> None:
    """Make a CREATING object AVAILABLE when FSx would have completed it."""
    TRANSITIONS.begin(type_, "create", lambda: record.update(Lifecycle="AVAILABLE"))


def _subnet(ec2: Any, subnet_ids: list[str]) -> Any:
    if len(subnet_ids) != 1:
        refuse("InvalidNetworkSettings", "Lustre file systems lie in exactly one subnet")
    found = [s for zone in ec2.subnets.values() for s in zone.values() if s.id == subnet_ids[0]]
    if not found:
        refuse("InvalidNetworkSettings", f"The subnet ID '{subnet_ids[0]}' does not exist")
    return found[0]


def _interfaces(ec2: Any, subnet: Any, groups: list[str], *, servers: int) -> list[str]:
    if subnet.available_ip_address_count < servers:
        refuse("InvalidNetworkSettings", f"Subnet {subnet.id} has no free IP addresses left")
    return [
        ec2.create_network_interface(
            subnet,
            None,
            group_ids=list(groups),
            description="Network interface of an FSx file system",
        ).id
        for _ in range(servers)
    ]


def _record(
    backend: Any, identifier: str, wanted: Mapping[str, Any], lustre: dict[str, Any]
) -> dict[str, Any]:
    place = f"arn:aws:fsx:{backend.region_name}:{backend.account_id}"
    persistent = lustre["DeploymentType"].startswith("PERSISTENT")
    s3 = {
        key: lustre.pop(key)
        for key in ("ImportPath", "ExportPath", "AutoImportPolicy", "ImportedFileChunkSize")
        if key in lustre
    }
    key = f"arn:aws:kms:{backend.region_name}:{backend.account_id}:key/aws-fsx"
    return {
        "FileSystemId": identifier,
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": wanted.get("FileSystemTypeVersion", DEFAULT_VERSION),
        "OwnerId": backend.account_id,
        "CreationTime": CREATED,
        "Lifecycle": "CREATING",
        "StorageCapacity": wanted["StorageCapacity"],
        "StorageType": wanted.get("StorageType", "SSD"),
        "SubnetIds": wanted["SubnetIds"],
        "DNSName": f"{identifier}.fsx.{backend.region_name}.amazonaws.com",
        "KmsKeyId": wanted.get("KmsKeyId", key) if persistent else None,
        "ResourceARN": f"{place}:file-system/{identifier}",
        "LustreConfiguration": {
            "DataCompressionType": "NONE",
            "WeeklyMaintenanceStartTime": "1:05:00",
            "MountName": _mount_name(lustre["DeploymentType"]),
            "CopyTagsToBackups": False,
            "LogConfiguration": {"Level": "DISABLED"},
            **({"AutomaticBackupRetentionDays": 0} if persistent else {}),
            **lustre,
            **({"DataRepositoryConfiguration": {"Lifecycle": "AVAILABLE", **s3}} if s3 else {}),
        },
    }


def _mount_name(deployment: str) -> str:
    return "fsx" if deployment == "SCRATCH_1" else mock_random.get_random_hex(_MOUNT_NAME_DIGITS)


def describe(backend: Any, identifier: str) -> dict[str, Any]:
    """Return the description of a file system.

    Raises:
        FileSystemNotFound: it does not exist.
    """
    found = records_of(backend).described.get(identifier)
    if found is None:
        raise FileSystemNotFound(identifier)
    tags = backend.list_tags_for_resource(found["ResourceARN"])
    return {**{key: value for key, value in found.items() if value is not None}, "Tags": tags}


def update(backend: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Update a file system as FSx does, and return its description."""
    describe(backend, wanted["FileSystemId"])
    found = records_of(backend).described[wanted["FileSystemId"]]
    capacity = wanted.get("StorageCapacity", found["StorageCapacity"])
    if capacity < found["StorageCapacity"]:
        refuse("BadRequest", "Storage capacity can only be increased")
    changed = {**found["LustreConfiguration"], **(wanted.get("LustreConfiguration") or {})}
    throughput = "PerUnitStorageThroughput"
    if changed.get("EfaEnabled") and changed.get(throughput) != found["LustreConfiguration"].get(
        throughput
    ):
        refuse("UnsupportedOperation", "The throughput of an EFA-enabled file system is fixed")
    check_lustre(capacity, found["StorageType"], changed)
    found["StorageCapacity"] = capacity
    found["LustreConfiguration"] = changed
    return describe(backend, wanted["FileSystemId"])


def delete(backend: Any, identifier: str) -> dict[str, Any]:
    """Delete a file system with its network interfaces and data repository associations."""
    found = describe(backend, identifier)
    if found["Lifecycle"] != "DELETING":
        records_of(backend).described[identifier]["Lifecycle"] = "DELETING"
        kind = TYPES[found["FileSystemType"]]
        TRANSITIONS.begin(kind, "delete", lambda: _remove(backend, found))
    return {"FileSystemId": identifier, "Lifecycle": "DELETING"}


def _remove(backend: Any, system: Mapping[str, Any]) -> None:
    ec2 = ec2_backends[backend.account_id][backend.region_name]
    for interface_id in system["NetworkInterfaceIds"]:
        ec2.enis[interface_id].delete()
    records = records_of(backend)
    for association in list(records.associations.values()):
        if association["FileSystemId"] == system["FileSystemId"]:
            del records.associations[association["AssociationId"]]
    del records.described[system["FileSystemId"]]
