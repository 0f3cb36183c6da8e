"""FSx for Lustre: file systems with their data repository associations, validated like FSx."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from moto.core.exceptions import JsonRESTError
from moto.ec2.models import ec2_backends
from moto.fsx.exceptions import FileSystemNotFound
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.state import state_of
from trainyard.sandbox.aws.transitions import TRANSITIONS

# FSx's validation of Lustre file systems on creation and update.
#
# Sources:
#     https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html
#     https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
#     https://docs.aws.amazon.com/fsx/latest/LustreGuide/cannot-create-fs.html
# The rules intentionally duplicate the program's own, so that the sandbox can verify those.


LNET_PORT = 988
_THROUGHPUT = {
    ("PERSISTENT_1", "SSD"): {50, 100, 200},
    ("PERSISTENT_1", "HDD"): {12, 40},
    ("PERSISTENT_2", "SSD"): {125, 250, 500, 1000},
}
_TYPES = ("SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2")


def refuse(code: str, message: str) -> NoReturn:
    """Respond to the current request with an FSx error.

    Raises:
        JsonRESTError: always.
    """
    raise JsonRESTError(code, message)


def check_lustre(capacity: int, storage_type: str, lustre: Mapping[str, Any]) -> None:
    """Reject contradictory parameters.

    Raises:
        JsonRESTError: the first problem, with FSx's code.
    """
    deployment = lustre.get("DeploymentType", "SCRATCH_1")
    if deployment not in _TYPES:
        refuse("BadRequest", f"Unknown DeploymentType {deployment}")
    throughput = lustre.get("PerUnitStorageThroughput")
    allowed = _THROUGHPUT.get((deployment, storage_type))
    if storage_type == "HDD" and deployment != "PERSISTENT_1":
        refuse("BadRequest", "Storage type HDD is only supported on PERSISTENT_1 file systems")
    if (allowed is None and throughput is not None) or (
        allowed is not None and throughput not in allowed
    ):
        refuse(
            "InvalidPerUnitStorageThroughput",
            f"PerUnitStorageThroughput {throughput} is not supported by {deployment}",
        )
    if (storage_type == "HDD") != ("DriveCacheType" in lustre):
        refuse("BadRequest", "DriveCacheType is required when StorageType is HDD, and only then")
    _check_metadata(deployment, lustre)
    step = storage_step(deployment, storage_type, lustre)
    small = {"SCRATCH_1": (1200, 2400)}.get(deployment, (1200,))
    if storage_type == "HDD" or lustre.get("EfaEnabled"):
        small = ()
    if capacity not in small and (capacity <= 0 or capacity % step):
        refuse("BadRequest", f"Invalid storage capacity: {capacity}. Use multiples of {step}")


def storage_step(deployment: str, storage_type: str, lustre: Mapping[str, Any]) -> int:
    """Return the storage per server in GiB."""
    throughput = lustre.get("PerUnitStorageThroughput")
    if deployment == "SCRATCH_1":
        return 3600
    if storage_type == "HDD":
        return {12: 6000, 40: 1800}[throughput or 12]
    if lustre.get("EfaEnabled"):
        return {125: 38400, 250: 19200, 500: 9600, 1000: 4800}[throughput or 125]
    return 2400


def _check_metadata(deployment: str, lustre: Mapping[str, Any]) -> None:
    metadata = lustre.get("MetadataConfiguration")
    if lustre.get("EfaEnabled") and (deployment != "PERSISTENT_2" or not metadata):
        refuse(
            "BadRequest",
            "EFA is only supported for PERSISTENT_2 filesystems with metadata configuration",
        )
    if not metadata:
        return
    if deployment != "PERSISTENT_2":
        refuse("BadRequest", "MetadataConfiguration is only supported on PERSISTENT_2")
    iops = metadata.get("Iops")
    if metadata["Mode"] == "AUTOMATIC":
        if iops is not None:
            refuse("BadRequest", "Iops cannot be given in AUTOMATIC mode")
        return
    if iops not in (1500, 3000, 6000) and (not iops or iops % 12000 or iops > 192000):
        refuse("BadRequest", f"Invalid metadata Iops {iops}")


def check_s3(lustre: Mapping[str, Any]) -> None:
    """Reject contradictory paths, and paths for PERSISTENT_2.

    Raises:
        JsonRESTError: the first problem.
    """
    imported, exported = lustre.get("ImportPath"), lustre.get("ExportPath")
    if imported and lustre.get("DeploymentType") == "PERSISTENT_2":
        refuse("InvalidImportPath", "PERSISTENT_2 file systems do not support ImportPath")
    if exported and not imported:
        refuse("InvalidExportPath", "ExportPath needs an ImportPath")
    if imported and exported and imported.split("/")[2] != exported.split("/")[2]:
        refuse("InvalidExportPath", "ExportPath must be in the bucket of ImportPath")


def check_network(ec2: Any, subnet: Any, group_ids: Sequence[str], *, efa: bool) -> None:
    """Reject security groups of another VPC, and groups that block the Lustre port.

    Raises:
        JsonRESTError: InvalidNetworkSettings.
    """
    groups = [ec2.get_security_group_from_id(each) for each in group_ids]
    if any(group is None or group.vpc_id != subnet.vpc_id for group in groups):
        refuse("InvalidNetworkSettings", "Security groups must exist in the VPC of the subnet")
    if efa and not any(_reaches_itself(group) for group in groups):
        refuse(
            "InvalidNetworkSettings",
            "Insufficient security group permissions to create an EFA-enabled file system. Update "
            "security group to allow all internal inbound and outbound traffic.",
        )
    if not any(_lets_in(rule) for group in groups for rule in group.ingress_rules):
        refuse(
            "InvalidNetworkSettings",
            "The file system cannot be created because the default security group in the subnet "
            "provided or the provided security groups do not permit Lustre LNET network traffic "
            f"on port {LNET_PORT}",
        )


def _lets_in(rule: Any) -> bool:
    if rule.ip_protocol == "-1":
        return True
    return rule.ip_protocol == "tcp" and int(rule.from_port) <= LNET_PORT <= int(rule.to_port)


def _reaches_itself(group: Any) -> bool:
    return all(
        any(
            rule.ip_protocol == "-1" and (rule.source_group or {}).get("GroupId") == group.id
            for rule in rules
        )
        for rules in (group.ingress_rules, group.egress_rules)
    )


# Lustre file systems as FSx describes them: ids, names, states and network interfaces.
#
# Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_FileSystem.html


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


# Data repository associations: directories of a file system that are linked to S3.
#
# Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_DataRepositoryAssociation.html


MOST = 8
TYPE = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"


def associate(backend: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Link a directory and return the association."""
    system = describe(backend, wanted["FileSystemId"])
    lustre = system["LustreConfiguration"]
    if lustre["DeploymentType"] == "SCRATCH_1" or "DataRepositoryConfiguration" in lustre:
        refuse("UnsupportedOperation", "The file system does not support associations")
    others = [
        each
        for each in records_of(backend).associations.values()
        if each["FileSystemId"] == wanted["FileSystemId"]
    ]
    if len(others) >= MOST:
        refuse("ServiceLimitExceeded", f"A file system has at most {MOST} associations")
    path = _directory(wanted["FileSystemPath"])
    for other in map(_directory, (each["FileSystemPath"] for each in others)):
        if path.startswith(other) or other.startswith(path):
            refuse("BadRequest", f"{path} overlaps with {other}")
    identifier = f"dra-{mock_random.get_random_hex(17)}"
    place = f"arn:aws:fsx:{backend.region_name}:{backend.account_id}"
    made = {
        "AssociationId": identifier,
        "ResourceARN": f"{place}:association/{wanted['FileSystemId']}/{identifier}",
        "FileSystemId": wanted["FileSystemId"],
        "Lifecycle": "CREATING",
        "FileSystemPath": wanted["FileSystemPath"],
        "DataRepositoryPath": wanted["DataRepositoryPath"],
        "BatchImportMetaDataOnCreate": wanted.get("BatchImportMetaDataOnCreate", False),
        "ImportedFileChunkSize": wanted.get("ImportedFileChunkSize", 1024),
        "S3": wanted.get("S3") or {},
        "CreationTime": CREATED,
    }
    records_of(backend).associations[identifier] = made
    if wanted.get("Tags"):
        backend.tagger.tag_resource(made["ResourceARN"], wanted["Tags"])
    become_available(made, TYPE)
    return described(backend, identifier)


def _directory(path: str) -> str:
    return f"{path.rstrip('/')}/"


def described(backend: Any, identifier: str) -> dict[str, Any]:
    """Return an association.

    Raises:
        JsonRESTError: DataRepositoryAssociationNotFound.
    """
    found = records_of(backend).associations.get(identifier)
    if found is None:
        refuse("DataRepositoryAssociationNotFound", f"Association {identifier} does not exist")
    return {**found, "Tags": backend.list_tags_for_resource(found["ResourceARN"])}


def change(backend: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Update the import and export settings, and return the association."""
    identifier = wanted["AssociationId"]
    described(backend, identifier)
    for key in ("S3", "ImportedFileChunkSize"):
        if key in wanted:
            records_of(backend).associations[identifier][key] = wanted[key]
    return described(backend, identifier)


def dissociate(backend: Any, identifier: str) -> dict[str, Any]:
    """Delete an association; the files are kept."""
    described(backend, identifier)
    associations = records_of(backend).associations
    associations[identifier]["Lifecycle"] = "DELETING"
    TRANSITIONS.begin(TYPE, "delete", lambda: associations.pop(identifier, None))
    return {"AssociationId": identifier, "Lifecycle": "DELETING"}
