"""EFS, FSx for OpenZFS and shared EBS volumes in a stack file.

The limits are those of ParallelCluster 3.16.1 (`validators/{ebs,efs}_validators.py`), which
`tests/parallelcluster/test_storage_settings.py` runs.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.eks import changed, schema_problems
from trainyard.components.config.storage import (
    IOPS,
    IOPS_FOR_EACH_MIBPS,
    SIZES_GIB,
    THROUGHPUTS_MBPS,
)

KEY = "arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
ID = "0123456789abcdef0"
EBS = {"kind": "ebs", "size_gib": 200}
EFS = {"kind": "efs"}
OLD_EFS = {"kind": "existing-efs", "file_system_id": f"fs-{ID}"}
ZFS = {"kind": "fsx-openzfs"}
PROVISIONED = {"throughput_mode": "provisioned"}


def storage(base: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return changed(storage={"data": {**base, **changes}})


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(storage(EBS, iops=6000, throughput_mibps=300), id="PC-16"),
        pytest.param(storage(EFS, **PROVISIONED, provisioned_throughput_mibps=1024), id="TRN-07"),
        pytest.param(storage(EBS, volume_type="gp2", size_gib=20), id="TRN-27-ebs"),
        pytest.param(storage(EBS, volume_type="io2", size_gib=65536, iops=256000), id="io2"),
        pytest.param(storage(EBS, raid={"type": 0, "number_of_volumes": 5}), id="raid"),
        pytest.param(storage(EBS, deletion_protection=False, final_snapshot=True), id="snapshot"),
        pytest.param(storage({"kind": "existing-ebs", "volume_id": f"vol-{ID}"}), id="old-ebs"),
        pytest.param(storage(EFS, kms_key_arn=KEY, encryption_in_transit=True), id="efs"),
        pytest.param(
            storage(
                OLD_EFS,
                access_point_id=f"fsap-{ID}",
                encryption_in_transit=True,
                iam_authorization=True,
            ),
            id="old-efs",
        ),
        pytest.param(storage(ZFS, backup_retention_days=30, backup_time="03:00"), id="zfs"),
        pytest.param(
            storage({"kind": "existing-fsx-openzfs", "volume_id": f"fsvol-{ID}"}), id="old-zfs"
        ),
    ],
)
def test_what_parallelcluster_takes_is_accepted(raw):
    assert schema_problems(raw) == {}


@pytest.mark.parametrize(
    ("raw", "key", "allowed", "remedy"),
    [
        pytest.param(
            storage(EBS, volume_type="st1", size_gib=100), "size_gib", "500 to 16384", "500",
            id="ebs-small",
        ),
        pytest.param(
            storage(EBS, volume_type="standard", size_gib=2048), "size_gib", "1 to 1024", "1024",
            id="ebs-large",
        ),
        pytest.param(storage(EBS, size_gib=5), "size_gib", "6 or more", "6", id="gp3-too-small"),
        pytest.param(storage(EBS, iops=2000), "iops", "3000 to 16000", "3000", id="gp3-few-iops"),
        pytest.param(
            storage(EBS, size_gib=10, iops=6000), "iops", "3000 to 5000", "5000", id="gp3-ratio"
        ),
        pytest.param(
            storage(EBS, volume_type="io1", size_gib=10, iops=5000), "iops", "100 to 500", "500",
            id="io1-ratio",
        ),
        pytest.param(
            storage(EBS, volume_type="gp2", iops=3000), "iops", "no iops", "remove", id="gp2-iops"
        ),
        pytest.param(
            storage(EBS, throughput_mibps=2000, iops=8000), "throughput_mibps", "125 to 1000",
            "1000", id="throughput",
        ),
        pytest.param(
            storage(EBS, throughput_mibps=800), "throughput_mibps", "at most 750", "iops: 3200",
            id="throughput-ratio",
        ),
        pytest.param(
            storage(EBS, volume_type="io2", throughput_mibps=125), "throughput_mibps", "gp3",
            "remove", id="throughput-type",
        ),
        pytest.param(
            storage(EBS, final_snapshot=True), "final_snapshot", "deletion_protection: false",
            "deletion_protection", id="snapshot-of-what-stays",
        ),
        pytest.param(
            storage(EFS, **PROVISIONED), "provisioned_throughput_mibps", "1 to 1024", "1024",
            id="efs-without-throughput",
        ),
        pytest.param(
            storage(EFS, provisioned_throughput_mibps=64), "provisioned_throughput_mibps",
            "provisioned", "throughput_mode", id="efs-without-mode",
        ),
        pytest.param(
            storage(EFS, throughput_mode="elastic"), "throughput_mode", "bursting, provisioned",
            "throughput_mode", id="efs-elastic",
        ),
        pytest.param(
            storage(EFS, iam_authorization=True), "iam_authorization", "encryption_in_transit",
            "encryption_in_transit", id="efs-iam",
        ),
        pytest.param(
            storage(OLD_EFS, access_point_id=f"fsap-{ID}"), "access_point_id",
            "encryption_in_transit", "encryption_in_transit", id="efs-access-point",
        ),
        pytest.param(
            storage(ZFS, throughput_capacity_mbps=200), "throughput_capacity_mbps",
            "160, 320, 640", "320", id="zfs-throughput",
        ),
        pytest.param(
            storage(ZFS, deployment_type="SINGLE_AZ_1"), "throughput_capacity_mbps",
            "64, 128, 256", "256", id="zfs-generation",
        ),
        pytest.param(
            storage(ZFS, availability_zone="us-west-2b", subnet_id="subnet-000000000000000a2"),
            "availability_zone", "one of", "remove", id="zfs-place",
        ),
    ],
)  # fmt: skip
def test_what_would_be_refused_later_is_refused_with_the_way_out(raw, key, allowed, remedy):
    found = schema_problems(raw)
    assert set(found) == {f"storage.data.{key}"}
    problem = found[f"storage.data.{key}"]
    assert allowed in (problem.allowed or "")
    assert remedy in problem.remedy


@pytest.mark.parametrize(
    ("base", "key", "value"),
    [
        (EFS, "provisioned_throughput_mibps", 1025),
        (ZFS, "storage_capacity_gib", 32),
        (ZFS, "deployment_type", "MULTI_AZ_1"),
        (OLD_EFS, "file_system_id", "fs-0123"),
        (EBS, "raid", {"type": 5}),
        (EBS, "raid", {"type": 0, "number_of_volumes": 6}),
        (EBS, "mount_directory", "apps"),
        (EBS, "mount_directory", "/apps/"),
        (EBS, "mount_directory", "/"),
        (EBS, "mount_directory", "/apps/../etc"),
        (EBS, "mount_directory", "/.hidden"),
    ],
)
def test_values_of_a_wrong_form_are_refused(base, key, value):
    (path,) = schema_problems(storage(base, **{key: value}))
    assert path.startswith(f"storage.data.{key}")


def test_two_directories_in_one_mount_directory_are_two_entries():
    """TRN-07, DF-08: ParallelCluster accepts the blank, but /etc/fstab cannot contain it."""
    raw = storage(EFS, mount_directory="/neuron_shared /efs")
    problem = schema_problems(raw)["storage.data.mount_directory"]
    assert "without spaces" in problem.problem
    assert "add two entries to `storage`" in problem.problem
    assert problem.remedy.endswith("for example to `/fsx`")


@given(
    st.sampled_from(sorted(IOPS)),
    st.integers(min_value=4, max_value=16384),
    st.integers(min_value=1, max_value=300_000),
)
def test_the_most_operations_grow_with_the_size_up_to_the_limit(kind, size, iops):
    rule = IOPS[kind]
    assert rule.most(size) <= min(rule.largest, size * rule.for_each_gib)
    taken = not schema_problems(storage(EBS, volume_type=kind, size_gib=size, iops=iops))
    assert taken == (rule.smallest <= iops <= rule.most(size))


@given(st.sampled_from(sorted(SIZES_GIB)), st.integers(min_value=6, max_value=65536))
def test_a_size_is_accepted_within_the_bounds_of_its_type(kind, size):
    smallest, largest = SIZES_GIB[kind]
    taken = not schema_problems(storage(EBS, volume_type=kind, size_gib=size))
    assert taken == (smallest <= size <= largest)


@given(st.integers(min_value=3000, max_value=16000), st.integers(min_value=125, max_value=1000))
def test_throughput_of_gp3_needs_its_operations(iops, throughput):
    taken = not schema_problems(storage(EBS, iops=iops, throughput_mibps=throughput))
    assert taken == (throughput * IOPS_FOR_EACH_MIBPS <= iops)


@given(st.sampled_from(sorted(THROUGHPUTS_MBPS)), st.integers(min_value=1, max_value=20_000))
def test_the_proposed_throughput_of_openzfs_is_accepted(deployment, throughput):
    base = {**ZFS, "deployment_type": deployment}
    found = schema_problems(storage(base, throughput_capacity_mbps=throughput))
    if found:
        (problem,) = found.values()
        proposed = int(problem.remedy.rpartition(": ")[2].partition(" ")[0])
        assert schema_problems(storage(base, throughput_capacity_mbps=proposed)) == {}
    else:
        assert throughput in THROUGHPUTS_MBPS[deployment]
