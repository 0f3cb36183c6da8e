"""FSx's validation of Lustre file systems on creation and update.

Sources:
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/cannot-create-fs.html
The rules intentionally duplicate the program's own, so that the sandbox can verify those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from moto.core.exceptions import JsonRESTError

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
