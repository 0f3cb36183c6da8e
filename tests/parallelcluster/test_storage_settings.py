"""Entries of `storage` as settings of ParallelCluster."""

from __future__ import annotations

import re
from typing import Annotated, Any, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.shared_storage import (
    EBS,
    EFS,
    LUSTRE,
    OLD_EBS,
    OLD_EFS,
    OLD_LUSTRE,
    OLD_ZFS,
    ZFS,
    planned,
)
from tests.support.tracked import ROOT
from trainyard.components.config import storage
from trainyard.components.config.fsx_lustre import DataRepository
from trainyard.components.config.storage_fields import MountedStorage
from trainyard.components.parallelcluster.references import Reference
from trainyard.components.parallelcluster.storage_settings import (
    STORAGE_TYPES,
    association_name,
    storage_type,
)

KEY = "arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
FILE_SYSTEMS: list[type[MountedStorage]] = [
    get_args(each)[0] if get_origin(each) is Annotated else each
    for each in get_args(get_args(storage.FileSystem)[0])
]
"""The models of the entries of `storage`."""
KEYS = ROOT / "src/trainyard/importing/parallelcluster/keys.txt"
"""The keys of ParallelCluster's schema."""
HDD = {
    "deployment_type": "PERSISTENT_1",
    "storage_type": "HDD",
    "drive_cache": "NONE",
    "per_unit_storage_throughput": 12,
    "storage_capacity_gib": 6000,
}


@pytest.mark.parametrize("model", FILE_SYSTEMS)
def test_every_kind_of_storage_has_a_type_of_the_schema_a_name_and_a_place_in_eks(
    model: type[MountedStorage],
) -> None:
    (kind,) = get_args(model.model_fields["kind"].annotation)
    wanted: Any = model.model_construct(kind=kind)
    found = storage_type(wanted)
    assert f"SharedStorage.{found}Settings section" in KEYS.read_text(encoding="utf-8").splitlines()
    assert STORAGE_TYPES[found]
    assert bool(model.WHY_NOT_ON_EKS) == (found != "FsxLustre")


@pytest.mark.parametrize(
    ("wanted", "type_", "settings"),
    [
        pytest.param(
            {**LUSTRE, "storage_capacity_gib": 4800},
            "FsxLustre",
            {
                "StorageCapacity": 4800,
                "DeploymentType": "PERSISTENT_2",
                "StorageType": "SSD",
                "PerUnitStorageThroughput": 250,
                "DataCompressionType": "LZ4",
                "DeletionPolicy": "Retain",
            },
            id="PC-15",
        ),
        pytest.param(
            {**LUSTRE, **HDD, "compression": "NONE", "backup_retention_days": 7},
            "FsxLustre",
            {
                "StorageCapacity": 6000,
                "DeploymentType": "PERSISTENT_1",
                "StorageType": "HDD",
                "PerUnitStorageThroughput": 12,
                "AutomaticBackupRetentionDays": 7,
                "CopyTagsToBackups": True,
                "DeletionPolicy": "Retain",
            },
            id="none-is-left-out",
        ),
        pytest.param(
            {
                "kind": "fsx-lustre",
                "mount_directory": "/fsx",
                "deployment_type": "SCRATCH_2",
                "import_path": "s3://data/a",
                "export_path": "s3://data/b",
                "auto_import": "NEW_CHANGED",
                "weekly_maintenance": "7:03:00",
                "deletion_protection": False,
            },
            "FsxLustre",
            {
                "StorageCapacity": 1200,
                "DeploymentType": "SCRATCH_2",
                "StorageType": "SSD",
                "DataCompressionType": "LZ4",
                "AutoImportPolicy": "NEW_CHANGED",
                "ImportPath": "s3://data/a",
                "ExportPath": "s3://data/b",
                "WeeklyMaintenanceStartTime": "7:03:00",
                "DeletionPolicy": "Delete",
            },
            id="TRN-27-lustre",
        ),
        pytest.param(
            {**EBS, "iops": 6000, "throughput_mibps": 300},
            "Ebs",
            {
                "VolumeType": "gp3",
                "Size": 200,
                "Iops": 6000,
                "Throughput": 300,
                "Encrypted": True,
                "DeletionPolicy": "Retain",
            },
            id="PC-16",
        ),
        pytest.param(
            {
                **EBS,
                "kms_key_arn": KEY,
                "raid": {"type": 1, "number_of_volumes": 3},
                "deletion_protection": False,
                "final_snapshot": True,
            },
            "Ebs",
            {
                "VolumeType": "gp3",
                "Size": 200,
                "Encrypted": True,
                "KmsKeyId": KEY,
                "Raid": {"Type": 1, "NumberOfVolumes": 3},
                "DeletionPolicy": "Snapshot",
            },
            id="raid",
        ),
        pytest.param(
            {**EBS, "deletion_protection": False, "encrypted": False},
            "Ebs",
            {"VolumeType": "gp3", "Size": 200, "Encrypted": False, "DeletionPolicy": "Delete"},
            id="unprotected",
        ),
        pytest.param(
            {**EFS, "throughput_mode": "provisioned", "provisioned_throughput_mibps": 1024},
            "Efs",
            {
                "Encrypted": True,
                "PerformanceMode": "generalPurpose",
                "ThroughputMode": "provisioned",
                "ProvisionedThroughput": 1024,
                "DeletionPolicy": "Retain",
            },
            id="TRN-07",
        ),
        pytest.param(
            {**OLD_EFS, "encryption_in_transit": True, "iam_authorization": True},
            "Efs",
            {
                "FileSystemId": "fs-0ef50000000000001",
                "EncryptionInTransit": True,
                "IamAuthorization": True,
            },
            id="existing-efs",
        ),
        pytest.param(
            OLD_LUSTRE, "FsxLustre", {"FileSystemId": "fs-0f5c0000000000001"}, id="existing-lustre"
        ),
        pytest.param(
            OLD_ZFS, "FsxOpenZfs", {"VolumeId": "fsvol-0f5c0000000000002"}, id="existing-zfs"
        ),
        pytest.param(OLD_EBS, "Ebs", {"VolumeId": "vol-0123456789abcdef0"}, id="existing-ebs"),
        pytest.param(
            ZFS, "FsxOpenZfs", {"VolumeId": Reference("open-zfs-volume", "data")}, id="new-zfs"
        ),
    ],
)
def test_an_entry_is_what_parallelcluster_calls_it(wanted, type_, settings):
    found = planned({"data": wanted})
    assert found.problems == {}
    entry = found.entry("data")
    assert (entry.type, entry.mount_directory) == (type_, wanted["mount_directory"])
    assert entry.settings == settings


@pytest.mark.parametrize(
    ("wanted", "retained"),
    [
        (LUSTRE, True),
        ({**EFS, "deletion_protection": False}, False),
        (OLD_EBS, True),
        (OLD_EFS, True),
    ],
)
def test_what_exists_or_is_protected_outlives_the_cluster(wanted, retained):
    assert planned({"data": wanted}).entry("data").retained is retained


def test_directories_are_linked_to_s3_as_on_eks():
    repository = {
        "file_system_path": "/imagenet/1k",
        "s3_path": "s3://data/imagenet",
        "export_events": ["NEW"],
    }
    found = planned({"data": {**LUSTRE, "data_repositories": [repository]}})
    (link,) = found.entry("data").settings["DataRepositoryAssociations"]
    assert link == {
        "Name": link["Name"],
        "BatchImportMetaDataOnCreate": True,
        "DataRepositoryPath": "s3://data/imagenet",
        "FileSystemPath": "/imagenet/1k",
        "AutoExportPolicy": ["NEW"],
        "AutoImportPolicy": ["NEW", "CHANGED", "DELETED"],
    }
    assert link["Name"].startswith("imagenet1k")


def test_a_link_that_keeps_nothing_in_step_names_no_events():
    repository = {"file_system_path": "/", "s3_path": "s3://data/", "import_events": []}
    found = planned({"data": {**LUSTRE, "data_repositories": [repository]}})
    (link,) = found.entry("data").settings["DataRepositoryAssociations"]
    assert link.keys() & {"AutoExportPolicy", "AutoImportPolicy"} == set()


PATHS = st.from_regex(r"\A/[a-z0-9_./ -]{0,60}\Z")


@given(PATHS, PATHS)
def test_the_name_of_a_link_is_an_id_of_cloudformation_and_follows_from_its_ends(one, other):
    names = [
        association_name(DataRepository(file_system_path=path, s3_path="s3://data/"))
        for path in (one, other)
    ]
    assert all(re.fullmatch(r"[A-Za-z0-9]{1,30}", name) for name in names)
    assert (names[0] == names[1]) == (one == other)
