"""Throughputs of Lustre file systems (F2)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import cluster_with, file_system, shared_storage
from trainyard.policies.rules.storage.lustre_throughput import POLICY

SCRATCH = {"deploymentType": "SCRATCH_2"}
VIOLATING = (
    (file_system(perUnitStorageThroughput=200),),
    (cluster_with(shared_storage(PerUnitStorageThroughput=None)),),
)
CLEAN = ((file_system(),), (cluster_with(shared_storage()),))


@pytest.mark.parametrize(
    ("system", "fault"),
    [
        (file_system(perUnitStorageThroughput=200), "is 200, but PERSISTENT_2 on SSD requires"),
        (file_system(perUnitStorageThroughput=None), "is missing, but PERSISTENT_2 on SSD"),
        (
            file_system(deploymentType="PERSISTENT_1", storageType="HDD"),
            "is 125, but PERSISTENT_1 on HDD requires one of 12, 40 MB/s/TiB",
        ),
        (file_system(**SCRATCH), "is 125, but SCRATCH_2 has a fixed one; remove the per-unit"),
    ],
    ids=["of-another-type", "missing", "disks", "scratch"],
)
def test_fails(system, fault):
    (message,) = check(POLICY, system).messages
    assert f"lustre: its throughput {fault}" in message


def test_the_shared_storage_of_a_cluster_is_named():
    (message,) = check(POLICY, *VIOLATING[1]).messages
    assert message.startswith("slurm: in its shared storage fsx, its throughput is missing")


@pytest.mark.parametrize(
    "system",
    [
        *(file_system(perUnitStorageThroughput=each) for each in (125, 250, 500, 1000)),
        file_system(deploymentType="PERSISTENT_1", perUnitStorageThroughput=50),
        file_system(**SCRATCH, perUnitStorageThroughput=None),
        file_system(storageType="HDD", perUnitStorageThroughput=77),
        file_system(backupId="backup-1", perUnitStorageThroughput=None),
        cluster_with(shared_storage(PerUnitStorageThroughput={"Ref": "Throughput"})),
    ],
)
def test_passes(system):
    found = check(POLICY, system)
    assert (found.messages, found.undecided) == ([], [])


def test_a_throughput_that_is_not_known_yet_is_said():
    found = check(POLICY, file_system(perUnitStorageThroughput=UNKNOWN))
    assert (found.messages, len(found.undecided)) == ([], 1)
