"""OpenZFS file systems of the account fixture, and volumes.

ParallelCluster mounts existing volumes only.
https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html

Sources: https://docs.aws.amazon.com/fsx/latest/APIReference/API_Volume.html and API_FileSystem.html
in the same reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from moto.ec2.models import ec2_backends

from trainyard.sandbox.aws.fsx.checks import refuse
from trainyard.sandbox.aws.fsx.file_systems import CREATED, records_of
from trainyard.sandbox.aws.state import state_of

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
