"""OpenZFS file systems with their root volumes.

Source: https://github.com/hashicorp/terraform-provider-aws, `internal/service/fsx`:
`openzfs_file_system.go` (`ForceNew`, `CustomizeDiff`; the root volume is read and changed by
calls of its own).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.providers.aws.account import Account, tag_list, tag_map
from sandbox.providers.aws.resource import ResourceType, Values
from sandbox.providers.aws.resources.fsx import retag

_OPENZFS: Mapping[str, str] = {
    "automaticBackupRetentionDays": "AutomaticBackupRetentionDays",
    "copyTagsToBackups": "CopyTagsToBackups",
    "copyTagsToVolumes": "CopyTagsToVolumes",
    "dailyAutomaticBackupStartTime": "DailyAutomaticBackupStartTime",
    "deploymentType": "DeploymentType",
    "throughputCapacity": "ThroughputCapacity",
    "weeklyMaintenanceStartTime": "WeeklyMaintenanceStartTime",
}
_UPDATED = frozenset(_OPENZFS) - {"deploymentType"}
"""What of these changes in place."""
_FILE_SYSTEM: Mapping[str, str] = {
    "kmsKeyId": "KmsKeyId",
    "storageCapacity": "StorageCapacity",
    "storageType": "StorageType",
}
_ROOT: Mapping[str, str] = {
    "dataCompressionType": "DataCompressionType",
    "readOnly": "ReadOnly",
    "recordSizeKib": "RecordSizeKiB",
}


def _configuration(inputs: Values, names: frozenset[str]) -> dict[str, Any]:
    return {_OPENZFS[name]: inputs[name] for name in sorted(names) if inputs.get(name) is not None}


def _root(inputs: Values) -> dict[str, Any]:
    given = inputs.get("rootVolumeConfiguration") or {}
    found = {aws: given[name] for name, aws in _ROOT.items() if given.get(name) is not None}
    exports = given.get("nfsExports")
    if exports:
        clients = [
            {"Clients": each["clients"], "Options": each["options"]}
            for each in exports["clientConfigurations"]
        ]
        found["NfsExports"] = [{"ClientConfigurations": clients}]
    return found


def _create(account: Account, inputs: Values) -> tuple[str, Values]:
    given = {aws: inputs[name] for name, aws in _FILE_SYSTEM.items() if inputs.get(name)}
    root = _root(inputs)
    made = account.client("fsx").create_file_system(
        FileSystemType="OPENZFS",
        SubnetIds=inputs["subnetIds"],
        OpenZFSConfiguration={
            **_configuration(inputs, frozenset(_OPENZFS)),
            **({"RootVolumeConfiguration": root} if root else {}),
        },
        **given,
        **(
            {"SecurityGroupIds": inputs["securityGroupIds"]} if "securityGroupIds" in inputs else {}
        ),
        **({"Tags": tag_list(inputs["tags"])} if inputs.get("tags") else {}),
    )
    return made["FileSystem"]["FileSystemId"], {}


def _read(account: Account, identifier: str) -> Values:
    fsx = account.client("fsx")
    found = fsx.describe_file_systems(FileSystemIds=[identifier])["FileSystems"][0]
    openzfs = found["OpenZFSConfiguration"]
    root = openzfs["RootVolumeId"]
    (volume,) = fsx.describe_volumes(VolumeIds=[root])["Volumes"]
    return {
        "arn": found["ResourceARN"],
        "dnsName": found["DNSName"],
        "networkInterfaceIds": found["NetworkInterfaceIds"],
        "ownerId": found["OwnerId"],
        "vpcId": found["VpcId"],
        "subnetIds": found["SubnetIds"],
        "rootVolumeId": root,
        "rootVolumeConfiguration": _read_root(volume["OpenZFSConfiguration"]),
        "tags": tag_map(found.get("Tags")) or None,
        **{name: found.get(aws) for name, aws in _FILE_SYSTEM.items()},
        **{name: openzfs.get(aws) for name, aws in _OPENZFS.items()},
    }


def _read_root(volume: Mapping[str, Any]) -> Values:
    found = {name: volume[aws] for name, aws in _ROOT.items() if aws in volume}
    exports = volume.get("NfsExports")
    if exports:
        clients = [
            {"clients": each["Clients"], "options": each["Options"]}
            for each in exports[0]["ClientConfigurations"]
        ]
        found["nfsExports"] = {"clientConfigurations": clients}
    return found


def _update(account: Account, identifier: str, olds: Values, news: Values) -> None:
    fsx = account.client("fsx")
    changed = frozenset(name for name in _UPDATED if olds.get(name) != news.get(name))
    configuration = _configuration(news, changed)
    larger = olds.get("storageCapacity") != news.get("storageCapacity")
    if configuration or larger:
        capacity = {"StorageCapacity": news["storageCapacity"]} if larger else {}
        fsx.update_file_system(
            FileSystemId=identifier, OpenZFSConfiguration=configuration, **capacity
        )
    if _root(olds) != _root(news):
        found = fsx.describe_file_systems(FileSystemIds=[identifier])["FileSystems"][0]
        root = found["OpenZFSConfiguration"]["RootVolumeId"]
        fsx.update_volume(VolumeId=root, OpenZFSConfiguration=_root(news))
    retag(account, f"file-system/{identifier}", olds, news)


def _delete(account: Account, identifier: str, outputs: Values) -> None:
    account.client("fsx").delete_file_system(
        FileSystemId=identifier,
        OpenZFSConfiguration={"SkipFinalBackup": outputs.get("skipFinalBackup", False)},
    )


def _shrinks(olds: Values, news: Values) -> list[str]:
    """Return what is less than it was, which only a new file system can have."""
    less = news.get("storageCapacity", 0) < olds.get("storageCapacity", 0)
    return ["storageCapacity"] if less else []


FILE_SYSTEM = ResourceType(
    token="aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
    inputs=frozenset(
        {
            "subnetIds",
            "securityGroupIds",
            "rootVolumeConfiguration",
            "skipFinalBackup",
            "tags",
            *_OPENZFS,
            *_FILE_SYSTEM,
        }
    ),
    required=frozenset({"deploymentType", "subnetIds", "throughputCapacity"}),
    computed=frozenset(
        {"arn", "dnsName", "networkInterfaceIds", "ownerId", "rootVolumeId", "vpcId"}
    ),
    computed_inside={"rootVolumeConfiguration": frozenset({"readOnly", "recordSizeKib"})},
    replace_on=frozenset(
        {"subnetIds", "securityGroupIds", "deploymentType", "kmsKeyId", "storageType"}
    ),
    replace_when=_shrinks,
    defaults={
        "automaticBackupRetentionDays": 0,
        "copyTagsToBackups": False,
        "copyTagsToVolumes": False,
        "skipFinalBackup": False,
        "storageType": "SSD",
    },
    create=_create,
    read=_read,
    update=_update,
    delete=_delete,
)

RESOURCE_TYPES = (FILE_SYSTEM,)
"""FSx for OpenZFS."""
