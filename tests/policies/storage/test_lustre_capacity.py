"""Capacities of Lustre file systems (F1)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import (
    cluster_with,
    file_system,
    rendered_cluster,
    shared_storage,
)
from trainyard.policies.rules.storage.lustre_capacity import POLICY

VIOLATING = (
    (file_system(storageCapacity=2000),),
    (cluster_with(shared_storage(StorageCapacity=100)),),
)
CLEAN = ((file_system(),), (cluster_with(shared_storage()),))
SCRATCH_1 = {"deploymentType": "SCRATCH_1", "perUnitStorageThroughput": None}
DISKS = {"deploymentType": "PERSISTENT_1", "storageType": "HDD", "driveCacheType": "NONE"}
EFA = {"efaEnabled": True}


@pytest.mark.parametrize(
    ("system", "fix"),
    [
        (file_system(storageCapacity=2000), 2400),
        (file_system(storageCapacity=None), 1200),
        (file_system(perUnitStorageThroughput=UNKNOWN, storageCapacity=2000), 2400),
        (file_system(**SCRATCH_1, storageCapacity=4800), 7200),
        (file_system(**DISKS, perUnitStorageThroughput=12, storageCapacity=1800), 6000),
        (file_system(**DISKS, perUnitStorageThroughput=40, storageCapacity=6000), 7200),
        (file_system(**EFA, storageCapacity=4800), 38400),
        (cluster_with(shared_storage(StorageCapacity=3600)), 4800),
    ],
    ids=[
        "ssd",
        "missing",
        "any-throughput",
        "scratch-1",
        "hdd-12",
        "hdd-40",
        "efa",
        "parallelcluster",
    ],
)
def test_fails(system, fix):
    (message,) = check(POLICY, system).messages
    assert message.endswith(f"; set the storage capacity to {fix}")


def test_the_message_names_what_is_sold():
    (message,) = check(POLICY, *VIOLATING[1]).messages
    assert message.startswith(
        "slurm: in its shared storage fsx, its capacity is 100 GiB, but PERSISTENT_2 on SSD is "
        "available in"
    )


@pytest.mark.parametrize(
    "system",
    [
        file_system(),
        file_system(storageCapacity=2400),
        file_system(**SCRATCH_1, storageCapacity=3600),
        file_system(deploymentType=None, perUnitStorageThroughput=None, storageCapacity=3600),
        file_system(**DISKS, perUnitStorageThroughput=40, storageCapacity=1800),
        file_system(**EFA, storageCapacity=38400),
        file_system(**DISKS, perUnitStorageThroughput=77, storageCapacity=1),
        file_system(storageType="INTELLIGENT_TIERING", storageCapacity=None),
        file_system(backupId="backup-1", storageCapacity=None),
        file_system(deploymentType=UNKNOWN, storageCapacity=1),
        cluster_with(shared_storage(StorageCapacity="1200")),
        cluster_with(shared_storage(StorageCapacity={"Ref": "Capacity"})),
        cluster_with(shared_storage(FileSystemId="fs-1", StorageCapacity=None)),
        cluster_with(
            shared_storage(DeploymentType=None, PerUnitStorageThroughput=None, StorageCapacity=2400)
        ),
    ],
)
def test_passes(system):
    assert check(POLICY, system).messages == []


@pytest.mark.parametrize(
    "system",
    [
        file_system(storageCapacity=UNKNOWN),
        file_system(**DISKS, perUnitStorageThroughput=UNKNOWN, storageCapacity=2000),
    ],
    ids=["capacity", "throughput"],
)
def test_a_value_that_is_not_known_yet_is_said(system):
    found = check(POLICY, system)
    assert (found.messages, len(found.undecided)) == ([], 1)


def test_what_the_program_renders_is_what_the_rule_reads():
    """A rule for other keys than the renderer's would never find anything."""

    def settings(cluster):
        return next(
            each["FsxLustreSettings"]
            for each in cluster["SharedStorage"]
            if each["StorageType"] == "FsxLustre"
        )

    assert check(POLICY, rendered_cluster("pc-gpu", settings)).messages == []
    odd = rendered_cluster("pc-gpu", lambda cluster: settings(cluster).update(StorageCapacity=5000))
    assert len(check(POLICY, odd).messages) == 1
