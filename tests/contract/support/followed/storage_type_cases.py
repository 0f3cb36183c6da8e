"""Volumes of FSx for NetApp ONTAP."""

import json
from types import SimpleNamespace

from tests.parallelcluster.test_mounted_storage_check import system
from tests.support.account import account
from tests.support.eks import changed, refusals
from tests.support.import_sources import cluster
from tests.support.importing import at, read_text
from tests.support.parallelcluster import plan
from tests.support.shared_storage import config_with, planned
from trainyard.components.parallelcluster.lookup import look_up_open_zfs
from trainyard.components.parallelcluster.mounted_storage_check import mounted_storage_problems
from trainyard.components.parallelcluster.rendering import render_shared_storage

VOLUME = "fsvol-0f5c0000000000002"
ENTRY = {"kind": "existing-fsx-ontap", "mount_directory": "/home", "volume_id": VOLUME}
SETTINGS = {"StorageType": "FsxOntap", "FsxOntapSettings": {"VolumeId": VOLUME}}
STORED = planned({"home": ENTRY}).entry("home")


def test_parallelcluster_mounts_it():
    assert render_shared_storage(STORED) == {"MountDir": "/home", "Name": "home", **SETTINGS}


def test_nodes_must_reach_it():
    whole = plan(shared_storage=(STORED,))
    assert [*mounted_storage_problems(whole, account(open_zfs={VOLUME: system("ONTAP")}))] == []
    other = system("ONTAP", vpc_id="vpc-0fedcba9876543210")
    for found in ({}, {VOLUME: other}):
        assert [*mounted_storage_problems(whole, account(open_zfs=found))]


def test_the_account_is_asked_for_it():
    asked = []

    class Reader:
        fsx = SimpleNamespace(describe_volumes=None)

        def ask(self, _call, _do, **arguments):
            asked.append(arguments)

    assert look_up_open_zfs(Reader(), config_with({"home": ENTRY})) == {}
    assert asked == [{"VolumeIds": [VOLUME]}]


def test_pods_do_not_mount_it():
    assert "storage.home.kind" in refusals(changed(storage={"home": ENTRY}))


def test_a_cluster_with_it_is_imported(tmp_path):
    entry = json.dumps({"Name": "home", "MountDir": "/home", **SETTINGS})
    read = read_text(tmp_path, f"{cluster()}SharedStorage: [{entry}]\n")
    assert at(read, "storage", "home") == ENTRY
