"""Options that one deployment type of Lustre has and another does not (F3)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import cluster_with, file_system, shared_storage
from trainyard.policies.rules.storage.lustre_type_options import POLICY

KEY = "arn:aws:kms:us-west-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
SCRATCH = {"deploymentType": "SCRATCH_2", "perUnitStorageThroughput": None}
DISKS = {
    "deploymentType": "PERSISTENT_1",
    "storageType": "HDD",
    "perUnitStorageThroughput": 12,
    "storageCapacity": 6000,
}
VIOLATING = (
    (file_system(**SCRATCH, kmsKeyId=KEY),),
    (cluster_with(shared_storage(DriveCacheType="READ")),),
)
CLEAN = (
    (file_system(kmsKeyId=KEY),),
    (file_system(**DISKS, driveCacheType="NONE"),),
)


@pytest.mark.parametrize(
    ("system", "fix"),
    [
        (file_system(**SCRATCH, kmsKeyId=KEY), "or make the file system persistent"),
        (file_system(**SCRATCH, kmsKeyId=UNKNOWN), "or make the file system persistent"),
        (file_system(**DISKS), "set the drive cache type to READ, or to NONE"),
        (file_system(driveCacheType="READ"), "remove the drive cache type"),
        (
            file_system(storageType="HDD", driveCacheType="READ"),
            "set the storage type to SSD, or the deployment type to PERSISTENT_1",
        ),
    ],
    ids=["key", "key-made-here", "no-cache", "cache", "disks"],
)
def test_fails(system, fix):
    (message,) = check(POLICY, system).messages
    assert message.startswith("lustre: it")
    assert message.endswith(fix)


def test_every_fault_is_reported_at_once():
    system = file_system(**SCRATCH, storageType="HDD", kmsKeyId=KEY)
    (message,) = check(POLICY, system).messages
    assert [each.partition(",")[0].partition(" but")[0] for each in message.split("; also: ")] == [
        "lustre: its storage type is HDD",
        "its storage type is HDD",
        "it has a KMS key",
    ]


@pytest.mark.parametrize(
    "system", [*(program[0] for program in CLEAN), file_system(), cluster_with(shared_storage())]
)
def test_passes(system):
    found = check(POLICY, system)
    assert (found.messages, found.undecided) == ([], [])
