"""Lustre file systems and their links to S3.

Source: https://github.com/hashicorp/terraform-provider-aws, `internal/service/fsx`:
`lustre_file_system.go` and `data_repository_association.go` (`ForceNew`, `CustomizeDiff`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.providers.aws.account import Account, removed_tags, tag_list, tag_map
from sandbox.providers.aws.resource import ResourceType, Values

_LUSTRE: Mapping[str, str] = {
    "autoImportPolicy": "AutoImportPolicy",
    "automaticBackupRetentionDays": "AutomaticBackupRetentionDays",
    "copyTagsToBackups": "CopyTagsToBackups",
    "dailyAutomaticBackupStartTime": "DailyAutomaticBackupStartTime",
    "dataCompressionType": "DataCompressionType",
    "deploymentType": "DeploymentType",
    "driveCacheType": "DriveCacheType",
    "efaEnabled": "EfaEnabled",
    "exportPath": "ExportPath",
    "importPath": "ImportPath",
    "perUnitStorageThroughput": "PerUnitStorageThroughput",
    "weeklyMaintenanceStartTime": "WeeklyMaintenanceStartTime",
}
_UPDATED = frozenset(
    {
        "autoImportPolicy",
        "automaticBackupRetentionDays",
        "dailyAutomaticBackupStartTime",
        "dataCompressionType",
        "perUnitStorageThroughput",
        "weeklyMaintenanceStartTime",
    }
)
"""What of these changes in place."""
_IN_S3 = {"autoImportPolicy", "exportPath", "importPath"}
_FILE_SYSTEM: Mapping[str, str] = {
    "fileSystemTypeVersion": "FileSystemTypeVersion",
    "kmsKeyId": "KmsKeyId",
    "storageCapacity": "StorageCapacity",
    "storageType": "StorageType",
}


def _lustre(inputs: Values, names: frozenset[str]) -> dict[str, Any]:
    found = {_LUSTRE[name]: inputs[name] for name in sorted(names) if inputs.get(name) is not None}
    metadata = inputs.get("metadataConfiguration")
    if metadata:
        found["MetadataConfiguration"] = {"Mode": metadata["mode"]} | (
            {"Iops": metadata["iops"]} if metadata.get("iops") else {}
        )
    return found


def _create(account: Account, inputs: Values) -> tuple[str, Values]:
    given = {aws: inputs[name] for name, aws in _FILE_SYSTEM.items() if inputs.get(name)}
    made = account.client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        SubnetIds=[inputs["subnetIds"]],
        LustreConfiguration=_lustre(inputs, frozenset(_LUSTRE)),
        **given,
        **(
            {"SecurityGroupIds": inputs["securityGroupIds"]} if "securityGroupIds" in inputs else {}
        ),
        **({"Tags": tag_list(inputs["tags"])} if inputs.get("tags") else {}),
    )
    return made["FileSystem"]["FileSystemId"], {}


def _read(account: Account, identifier: str) -> Values:
    answer = account.client("fsx").describe_file_systems(FileSystemIds=[identifier])
    found = answer["FileSystems"][0]
    lustre = found["LustreConfiguration"]
    s3 = lustre.get("DataRepositoryConfiguration") or {}
    metadata = lustre.get("MetadataConfiguration")
    return {
        "arn": found["ResourceARN"],
        "dnsName": found["DNSName"],
        "mountName": lustre["MountName"],
        "networkInterfaceIds": found["NetworkInterfaceIds"],
        "ownerId": found["OwnerId"],
        "vpcId": found["VpcId"],
        "subnetIds": found["SubnetIds"][0],
        "tags": tag_map(found.get("Tags")) or None,
        "metadataConfiguration": {
            key: metadata[aws]
            for key, aws in (("mode", "Mode"), ("iops", "Iops"))
            if aws in metadata
        }
        if metadata
        else None,
        **{name: found.get(aws) for name, aws in _FILE_SYSTEM.items()},
        **{name: (s3 if name in _IN_S3 else lustre).get(aws) for name, aws in _LUSTRE.items()},
    }


def _update(account: Account, identifier: str, olds: Values, news: Values) -> None:
    fsx = account.client("fsx")
    changed = frozenset(name for name in _UPDATED if olds.get(name) != news.get(name))
    lustre = _lustre(news, changed)
    larger = olds.get("storageCapacity") != news.get("storageCapacity")
    if lustre or larger:
        capacity = {"StorageCapacity": news["storageCapacity"]} if larger else {}
        fsx.update_file_system(FileSystemId=identifier, LustreConfiguration=lustre, **capacity)
    retag(account, f"file-system/{identifier}", olds, news)


def retag(account: Account, resource: str, olds: Values, news: Values) -> None:
    """Bring the tags of an object of FSx in line.

    Args:
        account: The account.
        resource: The part of its ARN behind the account, such as `file-system/fs-…`.
        olds: Inputs before.
        news: Inputs now.
    """
    fsx, arn = account.client("fsx"), account.arn("fsx", resource)
    gone = removed_tags(olds, news)
    if gone:
        fsx.untag_resource(ResourceARN=arn, TagKeys=gone)
    if news.get("tags"):
        fsx.tag_resource(ResourceARN=arn, Tags=tag_list(news["tags"]))


def _delete(account: Account, identifier: str, outputs: Values) -> None:
    account.client("fsx").delete_file_system(FileSystemId=identifier)


def _shrinks(olds: Values, news: Values) -> list[str]:
    """Return what is less than it was, which only a new file system can have."""
    found: list[str] = []
    if news.get("storageCapacity", 0) < olds.get("storageCapacity", 0):
        found.append("storageCapacity")
    before, after = (each.get("metadataConfiguration") or {} for each in (olds, news))
    if 0 < after.get("iops", 0) < before.get("iops", 0):
        found.append("metadataConfiguration")
    return found


FILE_SYSTEM = ResourceType(
    token="aws:fsx/lustreFileSystem:LustreFileSystem",
    inputs=frozenset(
        {
            "subnetIds",
            "securityGroupIds",
            "metadataConfiguration",
            "skipFinalBackup",
            "tags",
            *_LUSTRE,
            *_FILE_SYSTEM,
        }
    ),
    required=frozenset({"subnetIds"}),
    computed=frozenset({"arn", "dnsName", "mountName", "networkInterfaceIds", "ownerId", "vpcId"}),
    computed_inside={"metadataConfiguration": frozenset({"iops"})},
    replace_on=frozenset(
        {
            "subnetIds",
            "securityGroupIds",
            "copyTagsToBackups",
            "deploymentType",
            "driveCacheType",
            "efaEnabled",
            "exportPath",
            "importPath",
            "kmsKeyId",
            "storageType",
        }
    ),
    replace_when=_shrinks,
    defaults={
        "copyTagsToBackups": False,
        "dataCompressionType": "NONE",
        "deploymentType": "SCRATCH_1",
        "skipFinalBackup": True,
        "storageType": "SSD",
    },
    create=_create,
    read=_read,
    update=_update,
    delete=_delete,
)


def _s3(inputs: Values) -> dict[str, Any]:
    policies = inputs.get("s3") or {}
    return {
        aws: {"Events": policies[name]["events"]}
        for name, aws in (
            ("autoImportPolicy", "AutoImportPolicy"),
            ("autoExportPolicy", "AutoExportPolicy"),
        )
        if policies.get(name)
    }


def _associate(account: Account, inputs: Values) -> tuple[str, Values]:
    made = account.client("fsx").create_data_repository_association(
        FileSystemId=inputs["fileSystemId"],
        FileSystemPath=inputs["fileSystemPath"],
        DataRepositoryPath=inputs["dataRepositoryPath"],
        BatchImportMetaDataOnCreate=inputs.get("batchImportMetaDataOnCreate", False),
        **({"S3": _s3(inputs)} if inputs.get("s3") else {}),
        **({"Tags": tag_list(inputs["tags"])} if inputs.get("tags") else {}),
    )
    return made["Association"]["AssociationId"], {}


def _read_association(account: Account, identifier: str) -> Values:
    answer = account.client("fsx").describe_data_repository_associations(
        AssociationIds=[identifier]
    )
    found = answer["Associations"][0]
    s3 = found.get("S3") or {}
    policies = {
        name: {"events": s3[aws]["Events"]}
        for name, aws in (
            ("autoImportPolicy", "AutoImportPolicy"),
            ("autoExportPolicy", "AutoExportPolicy"),
        )
        if aws in s3
    }
    return {
        "arn": found["ResourceARN"],
        "associationId": identifier,
        "fileSystemId": found["FileSystemId"],
        "fileSystemPath": found["FileSystemPath"],
        "dataRepositoryPath": found["DataRepositoryPath"],
        "batchImportMetaDataOnCreate": found["BatchImportMetaDataOnCreate"],
        "s3": policies or None,
        "tags": tag_map(found.get("Tags")) or None,
    }


def _update_association(account: Account, identifier: str, olds: Values, news: Values) -> None:
    if olds.get("s3") != news.get("s3"):
        account.client("fsx").update_data_repository_association(
            AssociationId=identifier, S3=_s3(news)
        )
    retag(account, f"association/{news['fileSystemId']}/{identifier}", olds, news)


def _dissociate(account: Account, identifier: str, outputs: Values) -> None:
    account.client("fsx").delete_data_repository_association(
        AssociationId=identifier,
        DeleteDataInFileSystem=outputs.get("deleteDataInFilesystem", False),
    )


ASSOCIATION = ResourceType(
    token="aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
    inputs=frozenset(
        {
            "fileSystemId",
            "fileSystemPath",
            "dataRepositoryPath",
            "batchImportMetaDataOnCreate",
            "deleteDataInFilesystem",
            "s3",
            "tags",
        }
    ),
    required=frozenset({"fileSystemId", "fileSystemPath", "dataRepositoryPath"}),
    computed=frozenset({"arn", "associationId"}),
    replace_on=frozenset(
        {"fileSystemId", "fileSystemPath", "dataRepositoryPath", "batchImportMetaDataOnCreate"}
    ),
    defaults={"batchImportMetaDataOnCreate": False, "deleteDataInFilesystem": False},
    create=_associate,
    read=_read_association,
    update=_update_association,
    delete=_dissociate,
)

RESOURCE_TYPES = (FILE_SYSTEM, ASSOCIATION)
