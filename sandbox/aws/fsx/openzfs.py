"""FSx for OpenZFS: file systems with their volumes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from moto.ec2.models import ec2_backends
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.fsx.lustre import (
    CREATED,
    TYPES,
    become_available,
    describe,
    records_of,
    refuse,
)
from trainyard.sandbox.aws.state import state_of

# OpenZFS file systems of the account fixture, and volumes.
#
# ParallelCluster mounts existing volumes only.
# https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html
#
# Sources: https://docs.aws.amazon.com/fsx/latest/APIReference/API_Volume.html and
# API_FileSystem.html in the same reference.


VOLUME_DEFAULTS: Mapping[str, Any] = {
    "CopyTagsToSnapshots": False,
    "DataCompressionType": "NONE",
    "NfsExports": [{"ClientConfigurations": [{"Clients": "*", "Options": ["rw", "crossmnt"]}]}],
    "ReadOnly": False,
    "RecordSizeKiB": 128,
    "StorageCapacityReservationGiB": 0,
    "StorageCapacityQuotaGiB": 0,
    "UserAndGroupQuotas": [],
}
"""What FSx answers about a volume that was created without these.

https://docs.aws.amazon.com/fsx/latest/APIReference/API_OpenZFSVolumeConfiguration.html
"""


def disk_iops(capacity_gib: int) -> dict[str, Any]:
    """Return what FSx provisions for a request without `DiskIopsConfiguration`.

    https://github.com/hashicorp/terraform-provider-aws, `TestAccFSxOpenZFSFileSystem_basic` in
    internal/service/fsx/openzfs_file_system_test.go: 192 IOPS for 64 GiB
    """
    return {"Mode": "AUTOMATIC", "Iops": 3 * capacity_gib}


@dataclass
class VolumeRecords:
    """Descriptions of volumes, by id."""

    described: dict[str, dict[str, Any]] = field(default_factory=dict)


def volumes_of(backend: Any) -> VolumeRecords:
    """Return the volumes of moto's FSx backend."""
    return state_of(backend, VolumeRecords)


def load(backend: Any, wanted: Mapping[str, Any]) -> None:
    """Add a file system with one volume to the account.

    Args:
        backend: moto's backend of FSx.
        wanted: `id`, `name`, `subnet`, `security_group`, `capacity_gib`, `volume` and `volume_path`
            of the fixture.
    """
    ec2: Any = ec2_backends[backend.account_id][backend.region_name]
    subnet = ec2.get_subnet(wanted["subnet"])
    interface = ec2.create_network_interface(
        subnet,
        None,
        group_ids=[wanted["security_group"]],
        description="Network interface of an FSx file system",
    )
    place = f"arn:aws:fsx:{backend.region_name}:{backend.account_id}"
    arn = f"{place}:file-system/{wanted['id']}"
    records_of(backend).described[wanted["id"]] = {
        "FileSystemId": wanted["id"],
        "FileSystemType": "OPENZFS",
        "OwnerId": backend.account_id,
        "CreationTime": CREATED,
        "Lifecycle": "AVAILABLE",
        "StorageCapacity": wanted["capacity_gib"],
        "StorageType": "SSD",
        "VpcId": subnet.vpc_id,
        "SubnetIds": [subnet.id],
        "NetworkInterfaceIds": [interface.id],
        "DNSName": f"{wanted['id']}.fsx.{backend.region_name}.amazonaws.com",
        "ResourceARN": arn,
        "OpenZFSConfiguration": {
            "DeploymentType": "SINGLE_AZ_HA_2",
            "ThroughputCapacity": 160,
            "AutomaticBackupRetentionDays": 0,
            "CopyTagsToBackups": False,
            "CopyTagsToVolumes": False,
            "WeeklyMaintenanceStartTime": "1:05:00",
            "DiskIopsConfiguration": disk_iops(wanted["capacity_gib"]),
            "RootVolumeId": f"{wanted['volume'][:-1]}0",
        },
    }
    backend.tagger.tag_resource(arn, [{"Key": "Name", "Value": wanted["name"]}])
    volumes_of(backend).described[wanted["volume"]] = {
        "VolumeId": wanted["volume"],
        "VolumeType": "OPENZFS",
        "FileSystemId": wanted["id"],
        "Name": wanted["name"],
        "CreationTime": CREATED,
        "Lifecycle": "AVAILABLE",
        "ResourceARN": f"{place}:volume/{wanted['id']}/{wanted['volume']}",
        "OpenZFSConfiguration": {**VOLUME_DEFAULTS, "VolumePath": wanted["volume_path"]},
    }


def describe_volumes(backend: Any, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the response of DescribeVolumes.

    Raises:
        JsonRESTError: an id is not that of a volume.
        NotImplementedError: filters are given.
    """
    if asked.get("Filters"):
        raise NotImplementedError("filters of volumes")
    volumes = volumes_of(backend).described
    ids = asked.get("VolumeIds") or [*volumes]
    for identifier in ids:
        if identifier not in volumes:
            refuse("VolumeNotFound", f"Volume '{identifier}' does not exist.")
    return {"Volumes": [volumes[identifier] for identifier in ids]}


# Create, update and delete OpenZFS file systems, each with its root volume.
#
# Sources:
#     https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html
#     https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemOpenZFSConfiguration.html
#     https://docs.aws.amazon.com/fsx/latest/APIReference/API_OpenZFSVolumeConfiguration.html
# The rules intentionally duplicate the program's own, so that the sandbox can verify those.


ROOT_PATH = "/fsx"
_OLD = (64, 128, 256, 512, 1024, 2048, 3072, 4096)
_NEW = (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240)
_THROUGHPUTS = {
    "SINGLE_AZ_1": _OLD,
    "SINGLE_AZ_HA_1": _OLD,
    "SINGLE_AZ_2": _NEW,
    "SINGLE_AZ_HA_2": _NEW,
}
_OF_THE_ROOT = (
    "CopyTagsToSnapshots",
    "DataCompressionType",
    "NfsExports",
    "ReadOnly",
    "RecordSizeKiB",
    "UserAndGroupQuotas",
)
_NO_QUOTAS = tuple(
    {"Id": 0, "StorageCapacityQuotaGiB": 0, "Type": kind} for kind in ("USER", "GROUP")
)
"""Default quotas that FSx adds to every volume.

https://github.com/hashicorp/terraform-provider-aws, `TestAccFSxOpenZFSFileSystem_rootVolume` in
internal/service/fsx/openzfs_file_system_test.go
"""
_UNANSWERED = frozenset({"DiskIopsConfiguration", "ReadCacheConfiguration", "PreferredSubnetId"})


def create(backend: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Create a file system with its root volume and return its description.

    Raises:
        JsonRESTError: FSx would reject the request; with FSx's code.
        NotImplementedError: the request has a feature that is not emulated.
    """
    settings = dict(wanted["OpenZFSConfiguration"])
    unanswered = sorted(_UNANSWERED & settings.keys())
    if unanswered or settings.get("DeploymentType") == "MULTI_AZ_1":
        raise NotImplementedError(f"{', '.join(unanswered) or 'MULTI_AZ_1'} of OpenZFS")
    _check(wanted.get("StorageCapacity", 0), settings)
    ec2: Any = ec2_backends[backend.account_id][backend.region_name]
    subnet = _subnet(ec2, wanted["SubnetIds"])
    groups = wanted.get("SecurityGroupIds") or []
    _check_groups(ec2, subnet, groups)
    root = settings.pop("RootVolumeConfiguration", {})
    made = _record(backend, wanted, settings, subnet)
    interface = ec2.create_network_interface(
        subnet,
        None,
        group_ids=list(groups),
        description="Network interface of an FSx file system",
    )
    made["NetworkInterfaceIds"] = [interface.id]
    made["OpenZFSConfiguration"]["RootVolumeId"] = _make_root(backend, made, root)
    records_of(backend).described[made["FileSystemId"]] = made
    if wanted.get("Tags"):
        backend.tagger.tag_resource(made["ResourceARN"], wanted["Tags"])
    become_available(made, TYPES["OPENZFS"])
    return describe(backend, made["FileSystemId"])


def _check(capacity: int, settings: Mapping[str, Any]) -> None:
    deployment = settings.get("DeploymentType")
    allowed = _THROUGHPUTS.get(str(deployment))
    if allowed is None:
        refuse("BadRequest", f"Invalid value for DeploymentType: {deployment}")
    throughput = settings.get("ThroughputCapacity")
    if throughput not in allowed:
        refuse(
            "BadRequest",
            "Invalid value for parameter OpenZFSConfiguration.ThroughputCapacity, value: "
            f"{throughput}, valid values: {', '.join(map(str, allowed))}",
        )
    if not 64 <= capacity <= 524288:
        refuse("BadRequest", f"Invalid storage capacity: {capacity}. Use 64 to 524288 GiB")


def _subnet(ec2: Any, subnet_ids: Sequence[str]) -> Any:
    if len(subnet_ids) != 1:
        refuse("InvalidNetworkSettings", "A Single-AZ file system lies in exactly one subnet")
    found = [s for zone in ec2.subnets.values() for s in zone.values() if s.id == subnet_ids[0]]
    if not found:
        refuse("InvalidNetworkSettings", f"The subnet ID '{subnet_ids[0]}' does not exist")
    return found[0]


def _check_groups(ec2: Any, subnet: Any, group_ids: Sequence[str]) -> None:
    groups = [ec2.get_security_group_from_id(each) for each in group_ids]
    if any(group is None or group.vpc_id != subnet.vpc_id for group in groups):
        refuse("InvalidNetworkSettings", "Security groups must exist in the VPC of the subnet")


def _record(
    backend: Any, wanted: Mapping[str, Any], settings: Mapping[str, Any], subnet: Any
) -> dict[str, Any]:
    identifier = f"fs-{mock_random.get_random_hex(17)}"
    place = f"{backend.region_name}:{backend.account_id}"
    return {
        "FileSystemId": identifier,
        "FileSystemType": "OPENZFS",
        "OwnerId": backend.account_id,
        "CreationTime": CREATED,
        "Lifecycle": "CREATING",
        "StorageCapacity": wanted["StorageCapacity"],
        "StorageType": wanted.get("StorageType", "SSD"),
        "VpcId": subnet.vpc_id,
        "SubnetIds": [subnet.id],
        "DNSName": f"{identifier}.fsx.{backend.region_name}.amazonaws.com",
        "KmsKeyId": wanted.get("KmsKeyId", f"arn:aws:kms:{place}:key/aws-fsx"),
        "ResourceARN": f"arn:aws:fsx:{place}:file-system/{identifier}",
        "OpenZFSConfiguration": {
            "AutomaticBackupRetentionDays": 0,
            "CopyTagsToBackups": False,
            "CopyTagsToVolumes": False,
            "WeeklyMaintenanceStartTime": "1:05:00",
            **settings,
            "DiskIopsConfiguration": disk_iops(wanted["StorageCapacity"]),
        },
    }


def _make_root(backend: Any, system: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    unanswered = sorted(root.keys() - set(_OF_THE_ROOT))
    if unanswered:
        raise NotImplementedError(f"{', '.join(unanswered)} of the root volume of OpenZFS")
    identifier, owner = f"fsvol-{mock_random.get_random_hex(17)}", system["FileSystemId"]
    place = f"{backend.region_name}:{backend.account_id}"
    volumes_of(backend).described[identifier] = {
        "VolumeId": identifier,
        "VolumeType": "OPENZFS",
        "FileSystemId": owner,
        "Name": "fsx",
        "CreationTime": CREATED,
        "Lifecycle": "AVAILABLE",
        "ResourceARN": f"arn:aws:fsx:{place}:volume/{owner}/{identifier}",
        "OpenZFSConfiguration": {
            **VOLUME_DEFAULTS,
            "VolumePath": ROOT_PATH,
            "StorageCapacityQuotaGiB": system["StorageCapacity"],
            **root,
            "UserAndGroupQuotas": _quotas(root),
        },
    }
    return identifier


def _quotas(asked: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    given = asked.get("UserAndGroupQuotas") or []
    return [*given, *(each for each in _NO_QUOTAS if each not in given)]


def update(backend: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Update a file system as FSx does, and return its description.

    Raises:
        JsonRESTError: FSx would reject the request; with FSx's code.
    """
    describe(backend, wanted["FileSystemId"])
    found = records_of(backend).described[wanted["FileSystemId"]]
    capacity = wanted.get("StorageCapacity", found["StorageCapacity"])
    if capacity < found["StorageCapacity"]:
        refuse("BadRequest", "Storage capacity can only be increased")
    changed = {**found["OpenZFSConfiguration"], **(wanted.get("OpenZFSConfiguration") or {})}
    _check(capacity, changed)
    found["StorageCapacity"] = capacity
    found["OpenZFSConfiguration"] = changed | {"DiskIopsConfiguration": disk_iops(capacity)}
    return describe(backend, wanted["FileSystemId"])


def change_volume(backend: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Update a volume as FSx does, and return its description.

    Raises:
        JsonRESTError: VolumeNotFound.
        NotImplementedError: the request has a feature that is not emulated.
    """
    volume = volumes_of(backend).described.get(wanted["VolumeId"])
    if volume is None:
        refuse("VolumeNotFound", f"Volume '{wanted['VolumeId']}' does not exist.")
    changes = wanted.get("OpenZFSConfiguration") or {}
    unanswered = sorted(changes.keys() - set(_OF_THE_ROOT))
    if unanswered:
        raise NotImplementedError(f"changes of {', '.join(unanswered)} of volumes of OpenZFS")
    if "UserAndGroupQuotas" in changes:
        changes = {**changes, "UserAndGroupQuotas": _quotas(changes)}
    volume["OpenZFSConfiguration"] = {**volume["OpenZFSConfiguration"], **changes}
    return volume


def forget_volumes(backend: Any, file_system_id: str) -> None:
    """Delete the volumes of a file system that is being deleted."""
    volumes = volumes_of(backend).described
    for identifier in [i for i, v in volumes.items() if v["FileSystemId"] == file_system_id]:
        del volumes[identifier]
