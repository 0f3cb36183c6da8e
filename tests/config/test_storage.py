"""FSx for Lustre in a stack file (rules F1 to F5)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.eks import changed, config, schema_problems
from trainyard.components.config.fsx_lustre import (
    EFA_STEP_GIB,
    HDD_STEP_GIB,
    THROUGHPUTS,
    CapacityRule,
    NewFsxLustre,
    capacity_rule,
    metadata_iops_allowed,
)

PERSISTENT_2 = {"kind": "fsx-lustre", "per_unit_storage_throughput": 250}
HDD = {
    "kind": "fsx-lustre",
    "deployment_type": "PERSISTENT_1",
    "storage_type": "HDD",
    "drive_cache": "READ",
    "per_unit_storage_throughput": 12,
    "storage_capacity_gib": 6000,
}
SCRATCH = {"kind": "fsx-lustre", "deployment_type": "SCRATCH_2"}
KEY = "arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"


def lustre(base: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return changed(storage={"data": {**(base or PERSISTENT_2), **changes}})


def read(raw: dict[str, Any]) -> NewFsxLustre:
    found = config(raw).storage["data"]
    assert isinstance(found, NewFsxLustre)
    return found


def test_a_file_system_is_protected_compressed_and_mounted_with_flock_unless_told_otherwise():
    wanted = read(lustre())
    assert (wanted.deletion_protection, wanted.compression) == (True, "LZ4")
    assert wanted.mount_options == ("flock",)


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(lustre(), id="persistent-2"),
        pytest.param(lustre(HDD), id="hdd"),
        pytest.param(lustre(SCRATCH), id="scratch-2"),
        pytest.param(lustre(SCRATCH, deployment_type="SCRATCH_1"), id="scratch-1"),
        pytest.param(
            lustre(efa_enabled=True, storage_capacity_gib=19200, metadata_iops=24000), id="efa"
        ),
        pytest.param(
            lustre(SCRATCH, import_path="s3://data/a", export_path="s3://data/b"), id="s3"
        ),
        pytest.param(
            lustre(data_repositories=[{"file_system_path": "/a", "s3_path": "s3://data/a"}]),
            id="associations",
        ),
        pytest.param(
            lustre(kms_key_arn=KEY, backup_retention_days=7, backup_time="03:00"), id="kms"
        ),
    ],
)
def test_what_fsx_makes_is_accepted(raw):
    assert schema_problems(raw) == {}


@pytest.mark.parametrize(
    ("raw", "key", "allowed", "remedy"),
    [
        pytest.param(
            lustre(storage_capacity_gib=1300), "storage_capacity_gib", "multiples of 2400", "2400",
            id="F1-ssd",
        ),
        pytest.param(
            lustre(SCRATCH, deployment_type="SCRATCH_1", storage_capacity_gib=4800),
            "storage_capacity_gib", "multiples of 3600", "7200", id="F1-scratch-1",
        ),
        pytest.param(
            lustre(HDD, storage_capacity_gib=7200), "storage_capacity_gib", "6000", "12000",
            id="F1-hdd-12",
        ),
        pytest.param(
            lustre(HDD, per_unit_storage_throughput=40, storage_capacity_gib=1200),
            "storage_capacity_gib", "1800", "1800", id="F1-hdd-40",
        ),
        pytest.param(
            lustre(efa_enabled=True, storage_capacity_gib=2400),
            "storage_capacity_gib", "19200", "19200", id="F1-efa",
        ),
        pytest.param(
            lustre(per_unit_storage_throughput=None), "per_unit_storage_throughput",
            "125, 250, 500, 1000", "125", id="F2-missing",
        ),
        pytest.param(
            lustre(per_unit_storage_throughput=200), "per_unit_storage_throughput",
            "125, 250, 500, 1000", "250", id="F2-persistent-2",
        ),
        pytest.param(
            lustre(deployment_type="PERSISTENT_1"), "per_unit_storage_throughput",
            "50, 100, 200", "200", id="F2-persistent-1",
        ),
        pytest.param(
            lustre(HDD, per_unit_storage_throughput=50), "per_unit_storage_throughput",
            "12, 40", "40", id="F2-hdd",
        ),
        pytest.param(
            lustre(SCRATCH, per_unit_storage_throughput=125), "per_unit_storage_throughput",
            "no per_unit_storage_throughput", "remove", id="F2-scratch",
        ),
        pytest.param(
            lustre(storage_type="HDD", drive_cache="NONE"), "storage_type", "PERSISTENT_1",
            "remove", id="F3-hdd",
        ),
        pytest.param(
            lustre(drive_cache="READ"), "drive_cache", "HDD", "remove", id="F3-drive-cache"
        ),
        pytest.param(
            lustre(SCRATCH, kms_key_arn=KEY), "kms_key_arn", "persistent", "remove", id="F3-kms"
        ),
        pytest.param(
            lustre(SCRATCH, efa_enabled=True, storage_capacity_gib=2400), "efa_enabled",
            "PERSISTENT_2", "remove", id="efa-type",
        ),
        pytest.param(
            lustre(metadata_iops=5000), "metadata_iops", "12000", "remove", id="metadata"
        ),
        pytest.param(
            lustre(SCRATCH, metadata_iops=6000), "metadata_iops", "PERSISTENT_2", "remove",
            id="metadata-type",
        ),
        pytest.param(
            lustre(import_path="s3://data/a"), "import_path", "data_repositories",
            "data_repositories", id="F4-persistent-2",
        ),
        pytest.param(
            lustre(
                SCRATCH,
                import_path="s3://data/a",
                data_repositories=[{"file_system_path": "/a", "s3_path": "s3://data/a"}],
            ),
            "data_repositories", "one of", "remove import_path", id="F4-both",
        ),
        pytest.param(
            lustre(
                data_repositories=[
                    {"file_system_path": f"/{n}", "s3_path": f"s3://data/{n}"} for n in range(9)
                ]
            ),
            "data_repositories", "at most 8", "remove", id="F4-nine",
        ),
        pytest.param(
            lustre(
                data_repositories=[
                    {"file_system_path": path, "s3_path": "s3://data/"} for path in ("/a/b", "/a")
                ]
            ),
            "data_repositories[1].file_system_path", "do not contain one another", "change",
            id="F4-overlap",
        ),
        pytest.param(
            lustre(SCRATCH, import_path="s3://data/a", export_path="s3://other/a"),
            "export_path", "s3://data", "bucket", id="F5-bucket",
        ),
        pytest.param(
            lustre(SCRATCH, backup_retention_days=3), "backup_retention_days", "0", "remove",
            id="backup-scratch",
        ),
        pytest.param(
            lustre(availability_zone="us-west-2b", subnet_id="subnet-000000000000000a2"),
            "availability_zone", "one of", "remove", id="place",
        ),
    ],
)  # fmt: skip
def test_what_fsx_refuses_is_refused_with_the_way_out(raw, key, allowed, remedy):
    found = schema_problems(raw)
    assert set(found) == {f"storage.data.{key}"}
    problem = found[f"storage.data.{key}"]
    assert allowed in (problem.allowed or "")
    assert remedy in problem.remedy


def test_everything_that_does_not_fit_is_reported_at_once():
    """F1, F2 and F3 together."""
    raw = lustre(
        SCRATCH, drive_cache="READ", kms_key_arn=KEY, per_unit_storage_throughput=9,
        storage_capacity_gib=7,
    )  # fmt: skip
    assert set(schema_problems(raw)) == {
        "storage.data.drive_cache",
        "storage.data.kms_key_arn",
        "storage.data.per_unit_storage_throughput",
        "storage.data.storage_capacity_gib",
    }


COMBINATIONS = st.sampled_from(
    [
        ("SCRATCH_1", "SSD", None, False),
        ("SCRATCH_2", "SSD", None, False),
        *((*kind, value, False) for kind, values in THROUGHPUTS.items() for value in values),
        *(("PERSISTENT_2", "SSD", value, True) for value in EFA_STEP_GIB),
    ]
)


def rule_of(combination: tuple[Any, ...]) -> CapacityRule:
    deployment, storage, throughput, efa = combination
    rule = capacity_rule(deployment, storage, throughput, efa=efa)
    assert rule is not None
    return rule


@given(COMBINATIONS, st.integers(min_value=1, max_value=500_000))
def test_the_proposed_capacity_is_allowed_and_the_smallest_that_holds_as_much(combination, wanted):
    """F1."""
    rule = rule_of(combination)
    nearest = rule.nearest(wanted)
    assert nearest >= wanted
    assert rule.allows(nearest)
    assert not any(rule.allows(size) for size in range(-(-wanted // 600) * 600, nearest, 600))


@given(COMBINATIONS, st.integers(min_value=-100_000, max_value=500_000))
def test_every_allowed_capacity_is_positive_and_comes_in_servers(combination, capacity):
    """F1."""
    if rule_of(combination).allows(capacity):
        assert capacity > 0
        assert capacity % 600 == 0


@given(COMBINATIONS, st.integers(min_value=1, max_value=100))
def test_multiples_of_the_step_are_allowed(combination, count):
    """F1."""
    rule = rule_of(combination)
    assert rule.allows(rule.step * count)


@pytest.mark.parametrize("throughput", [None, 50])
def test_without_a_valid_throughput_no_capacity_is_judged(throughput):
    assert capacity_rule("PERSISTENT_1", "HDD", throughput, efa=False) is None
    assert set(HDD_STEP_GIB) == set(THROUGHPUTS["PERSISTENT_1", "HDD"])


@pytest.mark.parametrize(
    ("iops", "allowed"),
    [(1500, True), (6000, True), (12000, True), (192000, True), (204000, False), (0, False),
     (9000, False), (-12000, False)],
)  # fmt: skip
def test_metadata_operations_come_in_steps(iops, allowed):
    assert metadata_iops_allowed(iops) is allowed


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("weekly_maintenance", "8:03:00"),
        ("backup_time", "3:00"),
        ("import_path", "data"),
        ("claim_name", "Data"),
        ("mount_options", ["a b"]),
        ("kms_key_arn", "alias/x"),
    ],
)
def test_values_of_a_wrong_form_are_refused(key, value):
    (path,) = schema_problems(lustre(**{key: value}))
    assert path.startswith(f"storage.data.{key}")
