"""Shared storage that ParallelCluster does not accept."""

from __future__ import annotations

import pytest

from tests.support.shared_storage import (
    EBS,
    EFS,
    LUSTRE,
    OLD_EFS,
    OLD_LUSTRE,
    config_with,
    planned,
)


def many(base, count, **changes):
    return {
        f"s{index}": {**base, "mount_directory": f"/s{index}", **changes} for index in range(count)
    }


@pytest.mark.parametrize(
    ("wanted", "key", "said"),
    [
        ({**LUSTRE, "efa_enabled": True, "storage_capacity_gib": 19200}, "efa_enabled", "EFA"),
        ({**LUSTRE, "metadata_iops": 12000}, "metadata_iops", "metadata"),
        ({**LUSTRE, "subnet_id": "subnet-0b000000000000002"}, "subnet_id", "subnet of the queues"),
        ({**LUSTRE, "availability_zone": "us-west-2b"}, "availability_zone", "of the queues"),
        (
            {**OLD_LUSTRE, "security_group_id": "sg-0123456789abcdef0"},
            "security_group_id",
            "groups of the nodes itself",
        ),
        ({**OLD_LUSTRE, "dns_name": "fs.example"}, "dns_name", "from the account itself"),
        ({**OLD_LUSTRE, "mount_name": "abcdefgh"}, "mount_name", "from the account itself"),
        (
            {**OLD_LUSTRE, "storage_capacity_gib": 1200},
            "storage_capacity_gib",
            "from the account itself",
        ),
        ({**OLD_LUSTRE, "file_system_id": "fs-01234567"}, "file_system_id", "does not accept"),
    ],
)
def test_what_parallelcluster_has_no_key_for_is_refused(wanted, key, said):
    (path, problem), *others = planned({"data": wanted}).problems.items()
    assert (path, others) == (f"storage.data.{key}", [])
    assert said in problem.problem
    assert problem.remedy


@pytest.mark.parametrize("key", ["efa_enabled", "metadata_iops", "adopt"])
def test_a_file_system_that_parallelcluster_cannot_make_comes_from_another_stack(key):
    value = {
        "efa_enabled": True,
        "metadata_iops": 12000,
        "adopt": {"file_system_id": "fs-0123456789abcdef0"},
    }[key]
    wanted = {**LUSTRE, key: value, "storage_capacity_gib": 19200}
    assert "existing-fsx-lustre" in planned({"d": wanted}).problems[f"storage.d.{key}"].remedy


@pytest.mark.parametrize(
    ("name", "allowed"), [("n" * 31, "at most 30 characters"), ("default", "another name")]
)
def test_names_that_parallelcluster_does_not_take_are_refused(name, allowed):
    problem = planned({name: EBS}).problems[f"storage.{name}"]
    assert problem.allowed == allowed
    assert problem.remedy.startswith("rename this entry")


def test_the_longest_name_is_accepted():
    assert planned({"n" * 30: EBS}).problems == {}


@pytest.mark.parametrize(
    ("storage", "what"),
    [
        (many(LUSTRE, 2), "new FSx for Lustre"),
        (many(EFS, 2), "new EFS"),
        (many(EBS, 6), "EBS volumes"),
        (many(EBS, 2, raid={"type": 0}), "RAID"),
    ],
)
def test_no_more_of_a_kind_than_parallelcluster_has(storage, what):
    """TRN-27, DF-09: an EBS volume and an EFS are two kinds, and both are kept."""
    problem = planned(storage).problems["storage"]
    assert what in problem.problem
    assert problem.found == ", ".join(storage)


def test_as_many_of_each_kind_as_parallelcluster_has():
    storage = {"fsx": LUSTRE, "home": EFS, **many(EBS, 5)}
    storage["raid"] = {**EBS, "mount_directory": "/raid", "raid": {"type": 0}}
    assert planned(storage).problems == {}


def test_twenty_existing_file_systems_and_no_more():
    storage = {
        f"s{index}": {
            **OLD_EFS,
            "mount_directory": f"/s{index}",
            "file_system_id": f"fs-{index:017x}",
        }
        for index in range(21)
    }
    assert "at most 20" in planned(storage).problems["storage"].problem
    del storage["s20"]
    assert planned(storage).problems == {}


def test_one_file_system_is_mounted_once():
    """DF-08: the same EFS cannot be in two directories."""
    storage = {"one": OLD_EFS, "two": {**OLD_EFS, "mount_directory": "/neuron_shared"}}
    problem = planned(storage).problems["storage.two.file_system_id"]
    assert "mounted by storage.one already" in problem.problem


def test_a_volume_for_many_nodes_is_noted():
    resource = "architecture__queues__compute-gpu__compute_resources__distributed-ml"
    busy = {f"{resource}__minimum": 0, f"{resource}__maximum": 101}
    (note,) = planned(config_with({"apps": EBS}, **busy)).review.notes
    assert "up to 101 nodes" in note
    assert planned({"apps": EBS}).review.notes == []
