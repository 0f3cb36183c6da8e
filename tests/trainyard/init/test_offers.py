"""Invalid choices are not offered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.account import (
    BLOCK,
    BLOCK_IN_D,
    EFS,
    ENDING,
    EXPIRED,
    LUSTRE,
    NOW,
    OTHER_VPC,
    VPC,
    listing,
)
from trainyard.init import offers
from trainyard.init.capacity import reserved_pool
from trainyard.init.design import PoolDesign


def pool_of(reservation_id: str) -> PoolDesign:
    known = {each.reservation_id: each for each in listing().reservations}
    return reserved_pool(known[reservation_id], listing(), None)


def test_reservations_that_ended_or_are_about_to_are_not_offered() -> None:
    offered = {each.reservation_id for each in offers.usable_reservations(listing(), NOW)}
    assert BLOCK in offered
    assert not offered & {EXPIRED, ENDING}


@pytest.mark.parametrize(
    "change",
    [{"available_count": 0}, {"platform": "Windows"}, {"state": "cancelled"}],
    ids=["without free instances", "of another platform", "cancelled"],
)
def test_a_reservation_that_nodes_cannot_use_is_not_offered(change) -> None:
    found = [replace(each, **change) for each in listing().reservations if each.kind == "odcr"]
    assert offers.usable_reservations(listing(reservations=tuple(found)), NOW) == []


def test_a_vpc_without_private_subnets_is_not_offered() -> None:
    assert offers.usable_vpcs(listing(), "eks", [pool_of(BLOCK)]) == [VPC]
    assert offers.vpc_faults(listing(), OTHER_VPC, kind="eks", pools=[pool_of(BLOCK)]) != []


def test_a_vpc_without_a_private_subnet_in_the_zone_of_the_reservation_is_not_offered() -> None:
    subnets = {
        name: each
        for name, each in listing().subnets.items()
        if each.availability_zone != "us-west-2d"
    }
    account = listing(subnets=subnets)
    assert offers.usable_vpcs(account, "eks", [pool_of(BLOCK)]) == [VPC]
    assert offers.usable_vpcs(account, "eks", [pool_of(BLOCK_IN_D)]) == []


def test_a_vpc_without_dns_hostnames_is_not_offered() -> None:
    vpcs = {VPC: replace(listing().vpcs[VPC], dns_hostnames=False)}
    assert offers.usable_vpcs(listing(vpcs=vpcs), "slurm", [pool_of(BLOCK)]) == []


def test_eks_is_not_offered_a_vpc_in_one_zone() -> None:
    subnets = {
        name: each
        for name, each in listing().subnets.items()
        if each.availability_zone == "us-west-2b"
    }
    account = listing(subnets=subnets)
    assert offers.usable_vpcs(account, "eks", [pool_of(BLOCK)]) == []
    assert offers.usable_vpcs(account, "slurm", [pool_of(BLOCK)]) == [VPC]


def test_a_subnet_with_fewer_addresses_than_nodes_is_not_offered() -> None:
    found = offers.subnets_of(listing(), VPC, public=False, least_addresses=12)
    assert "subnet-0b000000000000282" not in {each.subnet_id for each in found}


def test_only_file_systems_in_the_vpc_are_offered_and_efs_only_to_slurm() -> None:
    assert set(offers.mountable(listing(), VPC, "slurm")) == {LUSTRE, EFS}
    assert set(offers.mountable(listing(), VPC, "eks")) == {LUSTRE}
    assert offers.mountable(listing(), OTHER_VPC, "slurm") == {}


def test_a_file_system_that_is_being_deleted_is_not_offered() -> None:
    fsx = tuple(replace(each, lifecycle="DELETING") for each in listing().fsx)
    assert offers.mountable(listing(fsx=fsx), VPC, "eks") == {}


def test_rsa_keys_are_not_offered_to_an_operating_system_that_refuses_them() -> None:
    assert set(offers.usable_keys(listing(), "alinux2023")) == {"sandbox", "old"}
    assert set(offers.usable_keys(listing(), "ubuntu2204")) == {"sandbox"}


def test_zones_without_eks_are_not_offered_to_eks() -> None:
    zones = (replace(listing().zones[0], zone_id="use1-az3"), *listing().zones[1:])
    assert "us-west-2a" not in offers.usable_zones(listing(zones=zones), "eks")
    assert "us-west-2a" in offers.usable_zones(listing(zones=zones), "slurm")
