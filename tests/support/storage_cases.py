"""The cases of `aws_cases` for FSx."""

from __future__ import annotations

from tests.support.aws_cases import Case
from tests.support.sandbox_aws import PRIVATE_A, PRIVATE_B, Account


def storage_cases(account: Account) -> list[Case]:
    """Return a case for every type of FSx; their prerequisites are in the account."""
    lustre, closed = account.lustre(), account.group("lustre")
    account.open_lustre(closed)
    return [*_of_lustre(lustre, closed), *_of_openzfs(closed)]


def _of_lustre(made: str, group: str) -> list[Case]:
    return [
        Case(
            "aws:fsx/lustreFileSystem:LustreFileSystem",
            {
                "subnetIds": PRIVATE_B,
                "securityGroupIds": [group],
                "storageCapacity": 2400,
                "deploymentType": "PERSISTENT_2",
                "perUnitStorageThroughput": 125,
                "metadataConfiguration": {"mode": "USER_PROVISIONED", "iops": 3000},
                "tags": {"team": "a"},
            },
            {"storageCapacity": 4800, "perUnitStorageThroughput": 250, "tags": {"team": "b"}},
            {"subnetIds": PRIVATE_A},
        ),
        Case(
            "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
            {
                "fileSystemId": made,
                "fileSystemPath": "/data",
                "dataRepositoryPath": "s3://data/",
                "s3": {"autoImportPolicy": {"events": ["NEW"]}},
            },
            {
                "s3": {
                    "autoImportPolicy": {"events": ["NEW"]},
                    "autoExportPolicy": {"events": ["NEW", "CHANGED"]},
                },
                "tags": {"team": "b"},
            },
            {"fileSystemPath": "/other"},
        ),
    ]


def _of_openzfs(group: str) -> list[Case]:
    return [
        Case(
            "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
            {
                "subnetIds": [PRIVATE_B],
                "securityGroupIds": [group],
                "storageCapacity": 128,
                "deploymentType": "SINGLE_AZ_HA_2",
                "throughputCapacity": 160,
                "skipFinalBackup": True,
                "rootVolumeConfiguration": {
                    "dataCompressionType": "LZ4",
                    "nfsExports": {
                        "clientConfigurations": [{"clients": "*", "options": ["rw", "crossmnt"]}]
                    },
                },
                "tags": {"team": "a"},
            },
            {
                "storageCapacity": 256,
                "throughputCapacity": 320,
                "rootVolumeConfiguration": {
                    "dataCompressionType": "ZSTD",
                    "nfsExports": {
                        "clientConfigurations": [{"clients": "10.0.0.0/8", "options": ["ro"]}]
                    },
                    "readOnly": True,
                    "recordSizeKib": 1024,
                },
                "tags": {"team": "b"},
            },
            {"deploymentType": "SINGLE_AZ_2"},
        ),
    ]
