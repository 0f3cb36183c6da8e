"""FSx file systems, their data repository associations, and buckets.

FSx has no filter for tags, so all file systems of the region are listed.
Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_DescribeFileSystems.html and
`API_FileSystem.html` (`Lifecycle`).
"""

from __future__ import annotations

from typing import Any

from botocore.exceptions import ClientError

from trainyard.components.tagging import RESOURCE_TAG
from trainyard.workspace.recovery.account import Account, Found, Look, progress, tag_map, tag_of
from trainyard.workspace.recovery.operations import PendingCreate
from trainyard.workspace.recovery.ways import Way, by_tag, repeated

_GONE = {"DELETING"}


def _file_system(kind: str) -> Look:
    def look(account: Account, create: PendingCreate) -> list[Found]:
        systems = account.all("fsx", "describe_file_systems", "FileSystems")
        mine = [each for each in systems if each.get("FileSystemType") == kind]
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


def _bucket(account: Account, create: PendingCreate) -> list[Found]:
    names = [each["Name"] for each in account.all("s3", "list_buckets", "Buckets")]
    made = [name for name in names if name.startswith(create.inputs["bucketPrefix"])]
    wanted = tag_of(create)
    return [Found(name) for name in made if _bucket_tags(account, name).get(RESOURCE_TAG) == wanted]


def _bucket_tags(account: Account, name: str) -> dict[str, str]:
    try:
        return tag_map(account.client("s3").get_bucket_tagging(Bucket=name)["TagSet"])
    except ClientError:  # NoSuchTagSet, or a bucket of another region
        return {}


_PART_OF_A_BUCKET = "overwrites it with the same setting; it is deleted with its bucket"

WAYS: dict[str, Way] = {
    "aws:s3/bucket:Bucket": by_tag("s3:ListAllMyBuckets", _bucket),
    "aws:s3/bucketObjectv2:BucketObjectv2": repeated(
        "`PutObject` overwrites it with the same text; it is deleted with its bucket"
    ),
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": repeated(
        f"`PutBucketOwnershipControls` {_PART_OF_A_BUCKET}"
    ),
    "aws:s3/bucketPolicy:BucketPolicy": repeated(f"`PutBucketPolicy` {_PART_OF_A_BUCKET}"),
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": repeated(
        f"`PutPublicAccessBlock` {_PART_OF_A_BUCKET}"
    ),
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": (
        repeated(f"`PutBucketEncryption` {_PART_OF_A_BUCKET}")
    ),
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
