"""Facts of existing storage, images and key pairs, from the sandbox's account."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.account import configured
from tests.support.parallelcluster import raw_g4dn
from tests.support.sandbox_aws import VPC, Account, default_account
from trainyard.components.account.reader import AccountReader
from trainyard.components.compute.lookup import key_pair_type, look_up_image
from trainyard.components.network.lookup import look_up_subnets
from trainyard.components.parallelcluster.lookup import (
    look_up_efs,
    look_up_open_zfs,
    look_up_volumes,
)

EFS = "fs-0ef50000000000001"
OPEN_ZFS = "fsvol-0f5c0000000000002"
IMAGE = "ami-0c00000000000a231"


@pytest.fixture(scope="module")
def account() -> Iterator[Account]:
    with default_account() as account:
        yield account


@pytest.fixture(scope="module")
def shared(account: Account) -> AccountReader:
    return AccountReader(region="us-west-2")


@pytest.fixture
def reader(shared: AccountReader) -> Iterator[AccountReader]:
    """One reader for all tests: its clients take time to create."""
    yield shared
    assert shared.unreadable == []


def stored(**entry: str):
    """Return a stack with one entry of storage."""
    return configured(raw_g4dn(storage={"data": {"mount_directory": "/data", **entry}}))


def efs(file_system_id: str):
    return stored(kind="existing-efs", file_system_id=file_system_id)


def test_an_efs_is_reached_where_it_has_mount_targets(reader):
    found = look_up_efs(reader, efs(EFS))[EFS]
    zones = [f"us-west-2{letter}" for letter in "abcd"]
    assert sorted(target.availability_zone for target in found.targets) == zones
    assert {target.vpc_id for target in found.targets} == {VPC}
    assert all(target.lets_in for target in found.targets)


def test_an_efs_that_does_not_exist_is_not_found(reader):
    assert look_up_efs(reader, efs("fs-0ef5fffffffffffff")) == {}


def test_a_volume_of_open_zfs_leads_to_its_file_system(reader):
    found = look_up_open_zfs(reader, stored(kind="existing-fsx-openzfs", volume_id=OPEN_ZFS))
    system = found[OPEN_ZFS]
    assert (system.type, system.vpc_id) == ("OPENZFS", VPC)
    assert system.security_group_ids == {"sg-0123456789abcdef0"}


def test_a_volume_of_open_zfs_that_does_not_exist_is_not_found(reader):
    config = stored(kind="existing-fsx-openzfs", volume_id="fsvol-0f5cfffffffffffff")
    assert look_up_open_zfs(reader, config) == {}


def test_a_disk_says_where_it_is_and_who_uses_it(reader, account):
    volume = account.ec2.create_volume(AvailabilityZone="us-west-2b", Size=10)["VolumeId"]
    found = look_up_volumes(reader, stored(kind="existing-ebs", volume_id=volume))[volume]
    assert (found.state, found.availability_zone, found.attached_to) == (
        "available",
        "us-west-2b",
        None,
    )


def test_a_disk_that_does_not_exist_is_not_found(reader):
    config = stored(kind="existing-ebs", volume_id="vol-0ffffffffffffffff")
    assert look_up_volumes(reader, config) == {}


def test_a_stack_without_such_storage_asks_nothing(reader, monkeypatch):
    """Users need no permissions for objects that their stack does not use."""
    monkeypatch.setattr(reader, "ask", None)
    config = configured(raw_g4dn())
    for look_up in (look_up_efs, look_up_open_zfs, look_up_volumes):
        assert look_up(reader, config) == {}


def test_an_image_says_who_has_built_it_for_which_machines(reader):
    found = look_up_image(reader, IMAGE)
    assert found is not None
    assert (found.state, found.architecture) == ("available", "x86_64")
    assert found.tags["parallelcluster:os"] == "alinux2023"
    assert found.root_volume_gib > 0


def test_an_image_that_does_not_exist_is_not_found(reader):
    assert look_up_image(reader, "ami-0ffffffffffffffff") is None


def test_a_key_pair_says_its_type(reader):
    assert key_pair_type(reader, "sandbox") == "ed25519"
    assert key_pair_type(reader, "lost") is None


def test_a_public_subnet_says_whether_it_gives_addresses(reader):
    public, private = "subnet-0a000000000000001", "subnet-0a000000000000002"
    found = look_up_subnets(reader, [public, private])
    assert {name: found[name].maps_public_addresses for name in (public, private)} == {
        public: True,
        private: False,
    }
