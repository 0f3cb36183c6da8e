"""Shared storage of the cluster file."""

import pytest

from tests.support.parallelcluster import APPS, FSX
from trainyard.components.parallelcluster.plan import SharedStoragePlan
from trainyard.components.parallelcluster.references import Reference
from trainyard.components.parallelcluster.rendering import render_shared_storage


def test_lustre():
    """PC-15, TRN-27."""
    assert render_shared_storage(FSX) == {
        "MountDir": "/fsx",
        "Name": "fsx",
        "StorageType": "FsxLustre",
        "FsxLustreSettings": FSX.settings,
    }


def test_a_shared_volume():
    """PC-16."""
    assert render_shared_storage(APPS)["EbsSettings"] == {
        "VolumeType": "gp3",
        "Size": 200,
        "Iops": 6000,
        "Throughput": 300,
        "Encrypted": True,
        "DeletionPolicy": "Retain",
    }


@pytest.mark.parametrize(
    ("type_", "section", "settings"),
    [
        (
            "Efs",
            "EfsSettings",
            {"ThroughputMode": "provisioned", "ProvisionedThroughput": 1024},
        ),
        (
            "FsxOpenZfs",
            "FsxOpenZfsSettings",
            {"VolumeId": Reference("open-zfs-volume", "home")},
        ),
    ],
)
def test_settings_stand_in_the_section_of_their_type(type_, section, settings):
    """TRN-07."""
    plan = SharedStoragePlan(
        name="home", mount_directory="/efs", type=type_, settings=settings, retained=True
    )
    assert render_shared_storage(plan) == {
        "MountDir": "/efs",
        "Name": "home",
        "StorageType": type_,
        section: settings,
    }


def test_a_type_without_settings_has_no_section():
    plan = SharedStoragePlan(
        name="efs", mount_directory="/efs", type="Efs", settings={}, retained=False
    )
    assert render_shared_storage(plan).keys() == {"MountDir", "Name", "StorageType"}
