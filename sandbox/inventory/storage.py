"""File systems, their data repository associations, and buckets."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.sandbox.inventory.clients import Clients
from trainyard.sandbox.inventory.item import Item, tags

_CONFIGURATIONS = {"LUSTRE": "LustreConfiguration", "OPENZFS": "OpenZFSConfiguration"}
"""Fields of FSx responses that are specific to a type of file system."""


def items(clients: Clients) -> Iterator[Item]:
    """Yield the account's file systems with related objects, and its buckets."""
    yield from _fsx(clients)
    yield from _efs(clients)
    for bucket in clients.client("s3").list_buckets()["Buckets"]:
        yield Item("s3:bucket", bucket["Name"], {})


def _fsx(clients: Clients) -> Iterator[Item]:
    for system in clients.every("fsx", "describe_file_systems", "FileSystems"):
        details = {
            "type": system["FileSystemType"],
            "deployment": system[_CONFIGURATIONS[system["FileSystemType"]]]["DeploymentType"],
            "capacity": system["StorageCapacity"],
            "subnets": system["SubnetIds"],
            "interfaces": sorted(system["NetworkInterfaceIds"]),
            "tags": tags(system.get("Tags")),
        }
        yield Item("fsx:file-system", system["FileSystemId"], details)
    for volume in clients.every("fsx", "describe_volumes", "Volumes"):
        details = {"type": volume["VolumeType"], "file-system": volume["FileSystemId"]}
        yield Item("fsx:volume", volume["VolumeId"], details)
    associations = clients.client("fsx").describe_data_repository_associations()["Associations"]
    for each in associations:
        details = {
            "file-system": each["FileSystemId"],
            "path": each["FileSystemPath"],
            "s3": each["DataRepositoryPath"],
        }
        yield Item("fsx:data-repository-association", each["AssociationId"], details)


def _efs(clients: Clients) -> Iterator[Item]:
    client = clients.client("efs")
    for system in clients.every("efs", "describe_file_systems", "FileSystems"):
        identifier = system["FileSystemId"]
        targets = client.describe_mount_targets(FileSystemId=identifier)["MountTargets"]
        details = {
            "throughput": system["ThroughputMode"],
            "subnets": sorted(target["SubnetId"] for target in targets),
            "tags": tags(system.get("Tags")),
        }
        yield Item("efs:file-system", identifier, details)
