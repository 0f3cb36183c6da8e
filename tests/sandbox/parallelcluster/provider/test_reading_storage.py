"""Shared storage, as the stand-in of ParallelCluster's provider reads it.

One process of ParallelCluster's environment reads for all tests of this file.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.cluster_configs import Config, existing_storage, p4de, storage
from tests.support.provider_readings import Read

pytestmark = pytest.mark.parallelcluster

PRIVATE_B = "subnet-0b000000000000002"
LINKS = [
    {
        "Name": "data",
        "BatchImportMetaDataOnCreate": True,
        "DataRepositoryPath": "s3://bucket/data",
        "FileSystemPath": "/data",
        "ImportedFileChunkSize": 512,
        "AutoExportPolicy": ["NEW", "DELETED"],
    },
    {
        "Name": "results",
        "DataRepositoryPath": "s3://bucket/results",
        "FileSystemPath": "/results",
        "AutoImportPolicy": ["NEW"],
        "AutoExportPolicy": ["NEW", "CHANGED"],
    },
]


def made_storage(config: Config) -> None:
    """Create storage of every kind, and mount existing storage."""
    existing_storage(config)
    raid = {"Type": "1", "NumberOfVolumes": 2}
    config["SharedStorage"] += [
        storage(
            "lustre",
            "/lustre",
            "FsxLustre",
            StorageCapacity=1200,
            DeploymentType="PERSISTENT_2",
            PerUnitStorageThroughput=250,
            DataRepositoryAssociations=LINKS,
        ),
        storage(
            "disk", "/disk", "FsxLustre", StorageCapacity=6000, StorageType="HDD",
            DeploymentType="PERSISTENT_1", PerUnitStorageThroughput=12, DeletionPolicy="Retain",
        ),
        storage("shared", "/shared", "Efs", ThroughputMode="provisioned", ProvisionedThroughput=64),
        storage("pair", "/pair", "Ebs", Size=50, VolumeType="gp3", Raid=raid),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def stored(read_by_provider: Read) -> dict[str, Any]:
    """The storage that is created, by name."""
    cluster = read_by_provider(clusters={"stored": p4de(made_storage)})["stored"]
    return {each["name"]: each for each in cluster["storage"]}


def test_storage_that_exists_is_not_made(stored: dict[str, Any]) -> None:
    assert list(stored) == ["lustre", "disk", "shared", "pair-0", "pair-1"]


def test_lustre_lies_with_the_nodes_and_has_its_settings(stored: dict[str, Any]) -> None:
    lustre = stored["lustre"]
    assert (lustre["kind"], lustre["is_retained"]) == ("fsx", False)
    assert lustre["subnet_ids"] == [PRIVATE_B]
    settings = lustre["settings"]
    assert (settings["FileSystemType"], settings["StorageCapacity"]) == ("LUSTRE", 1200)
    assert settings["LustreConfiguration"]["PerUnitStorageThroughput"] == 250
    assert "DriveCacheType" not in settings["LustreConfiguration"]


def test_a_lustre_of_disks_says_that_it_has_no_cache(stored: dict[str, Any]) -> None:
    disk = stored["disk"]
    assert disk["is_retained"] is True
    assert disk["settings"]["StorageType"] == "HDD"
    assert disk["settings"]["LustreConfiguration"]["DriveCacheType"] == "NONE"


def test_links_to_s3_keep_the_policies_that_are_given(stored: dict[str, Any]) -> None:
    data, results = stored["lustre"]["associations"]
    assert data == {
        "BatchImportMetaDataOnCreate": True,
        "DataRepositoryPath": "s3://bucket/data",
        "FileSystemPath": "/data",
        "ImportedFileChunkSize": 512,
        "S3": {"AutoExportPolicy": {"Events": ["NEW", "DELETED"]}},
        "Tags": [{"Key": "Name", "Value": "data"}],
    }
    assert results["S3"] == {
        "AutoExportPolicy": {"Events": ["NEW", "CHANGED"]},
        "AutoImportPolicy": {"Events": ["NEW"]},
    }


def test_efs_is_reached_in_one_subnet_of_a_zone(stored: dict[str, Any]) -> None:
    """Head node and compute nodes are in different subnets of the same zone."""
    shared = stored["shared"]
    assert (shared["kind"], shared["subnet_ids"]) == ("efs", [PRIVATE_B])
    assert shared["settings"]["ProvisionedThroughputInMibps"] == 64


def test_every_volume_of_a_raid_is_made_where_the_head_node_is(stored: dict[str, Any]) -> None:
    pair = [stored[name] for name in ("pair-0", "pair-1")]
    assert [each["settings"]["AvailabilityZone"] for each in pair] == ["us-west-2b"] * 2
    assert [each["settings"]["Size"] for each in pair] == [50, 50]
