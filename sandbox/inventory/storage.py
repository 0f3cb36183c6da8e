"""File systems and their links to S3."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.inventory.account import Clients
from sandbox.inventory.item import Item, tags


def items(clients: Clients) -> Iterator[Item]:
    """Yield the account's FSx file systems and what belongs to them."""
    for system in clients.every("fsx", "describe_file_systems", "FileSystems"):
        details = {
            "type": system["FileSystemType"],
            "deployment": system["LustreConfiguration"]["DeploymentType"],
            "capacity": system["StorageCapacity"],
            "subnets": system["SubnetIds"],
            "interfaces": sorted(system["NetworkInterfaceIds"]),
            "tags": tags(system.get("Tags")),
        }
        yield Item("fsx:file-system", system["FileSystemId"], details)
    associations = clients.client("fsx").describe_data_repository_associations()["Associations"]
    for each in associations:
        details = {
            "file-system": each["FileSystemId"],
            "path": each["FileSystemPath"],
            "s3": each["DataRepositoryPath"],
        }
        yield Item("fsx:data-repository-association", each["AssociationId"], details)
