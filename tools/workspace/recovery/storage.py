"""FSx file systems and their data repository associations.

FSx has no filter for tags, so all file systems of the region are listed.
Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_DescribeFileSystems.html and
`API_FileSystem.html` (`Lifecycle`).
"""

from __future__ import annotations

from typing import Any

from components.tagging import RESOURCE_TAG
from tools.workspace.recovery.account import Account, Found, Look, progress, tag_map, tag_of
from tools.workspace.recovery.operations import PendingCreate
from tools.workspace.recovery.ways import Way, by_tag

_GONE = {"DELETING"}


def _file_system(kind: str) -> Look:
    def look(account: Account, create: PendingCreate) -> list[Found]:
        systems = account.all("fsx", "describe_file_systems", "FileSystems")
        mine = [each for each in systems if each["FileSystemType"] == kind]
        return _of(create, mine, "FileSystemId")

    return look


def _association(account: Account, create: PendingCreate) -> list[Found]:
    links = account.all("fsx", "describe_data_repository_associations", "Associations")
    return _of(create, links, "AssociationId")


def _of(create: PendingCreate, items: list[dict[str, Any]], identifier: str) -> list[Found]:
    wanted = tag_of(create)
    return [
        Found(
            each[identifier], **progress(each["Lifecycle"], making={"CREATING"}, failed={"FAILED"})
        )
        for each in items
        if tag_map(each.get("Tags")).get(RESOURCE_TAG) == wanted and each["Lifecycle"] not in _GONE
    ]


WAYS: dict[str, Way] = {
    "aws:fsx/lustreFileSystem:LustreFileSystem": by_tag(
        "fsx:DescribeFileSystems", _file_system("LUSTRE")
    ),
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem": by_tag(
        "fsx:DescribeFileSystems", _file_system("OPENZFS")
    ),
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": by_tag(
        "fsx:DescribeDataRepositoryAssociations", _association
    ),
}
