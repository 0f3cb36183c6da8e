"""Addresses of new VPCs: as documented, disjoint, and unchanged by an additional zone."""

from ipaddress import IPv4Network
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.components.config.network import NewVpc
from trainyard.components.network.network_plan import most_zones, plan_addresses

ZONES = tuple(f"us-west-2{letter}" for letter in "abcdef")
LAYOUTS = st.sampled_from(["eksctl", "vpc-multi-az", "vpc-one-az"])


def vpc(zones, **changes):
    return NewVpc(kind="new-vpc", availability_zones=ZONES[:zones], **changes)


def networks(plan):
    return [IPv4Network(cidr) for cidr in (*plan.public, *plan.private)]


def test_two_zones_have_the_addresses_of_eksctl():
    """EKX-01: 192.168.0.0/16 in eight parts of /19, public subnets first."""
    plan = plan_addresses(vpc(2))
    assert (plan.cidr, plan.secondary_cidrs) == ("192.168.0.0/16", ())
    assert plan.public == ("192.168.0.0/19", "192.168.32.0/19")
    assert plan.private == ("192.168.64.0/19", "192.168.96.0/19")


@pytest.mark.parametrize(
    ("zones", "secondary"),
    [
        (1, ("10.1.0.0/16",)),
        (2, ("10.1.0.0/16",)),
        (3, ("10.1.0.0/16", "10.2.0.0/16")),
        (5, ("10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16")),
        (6, ("10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16")),
    ],
)
def test_a_further_network_for_every_two_zones(zones, secondary):
    """VPCM-05 to VPCM-08."""
    plan = plan_addresses(vpc(zones, addresses="vpc-multi-az"))
    assert (plan.cidr, plan.secondary_cidrs) == ("10.0.0.0/16", secondary)


def test_six_zones_have_the_addresses_of_the_template():
    """VPCM-09, VPCM-10."""
    plan = plan_addresses(vpc(6, addresses="vpc-multi-az"))
    assert plan.public == (
        "10.0.0.0/24",
        "10.0.1.0/24",
        "10.0.10.0/24",
        "10.0.11.0/24",
        "10.0.20.0/24",
        "10.0.21.0/24",
    )
    assert plan.private == (
        "10.1.0.0/17",
        "10.1.128.0/17",
        "10.2.0.0/17",
        "10.2.128.0/17",
        "10.3.0.0/17",
        "10.3.128.0/17",
    )


def test_one_zone_has_the_addresses_of_the_template():
    """VPC1-02 to VPC1-05."""
    plan = plan_addresses(vpc(1, addresses="vpc-one-az"))
    assert plan.blocks == ("10.0.0.0/16", "10.1.0.0/16")
    assert (plan.public, plan.private) == (("10.0.0.0/17",), ("10.1.0.0/17",))


def test_own_addresses_replace_those_of_the_layout():
    own = ("10.8.0.0/20", "10.8.16.0/20")
    plan = plan_addresses(
        vpc(2, cidr="10.0.0.0/20", secondary_cidrs=("10.8.0.0/16",), private_subnet_cidrs=own)
    )
    assert plan.blocks == ("10.0.0.0/20", "10.8.0.0/16")
    assert plan.public == ("10.0.0.0/23", "10.0.2.0/23")
    assert plan.private == own


def test_a_layout_reaches_for_so_many_zones():
    assert most_zones(vpc(1)) == 4
    assert most_zones(vpc(1, addresses="vpc-multi-az")) == 6
    assert most_zones(vpc(1, addresses="vpc-one-az")) == 1
    own = {"public_subnet_cidrs": ("10.0.0.0/24",), "private_subnet_cidrs": ("10.0.1.0/24",)}
    assert most_zones(vpc(1, **own)) is None


def test_a_vpc_without_room_for_eight_subnets_gets_none():
    plan = plan_addresses(vpc(2, cidr="10.0.0.0/30"))
    assert (plan.public, plan.private) == ((), ())


@given(LAYOUTS, st.integers(1, 4), st.integers(16, 25))
def test_subnets_are_disjoint_and_inside_one_of_each_kind_a_zone(layout, zones, prefix):
    cidr = f"172.16.0.0/{prefix}" if layout == "eksctl" else None
    zones = 1 if layout == "vpc-one-az" else zones
    network = vpc(zones, addresses=layout, cidr=cidr)
    plan = plan_addresses(network)
    assert plan == plan_addresses(network)
    assert len(plan.public) == len(plan.private) == zones
    blocks = [IPv4Network(block) for block in plan.blocks]
    assert all(any(subnet.subnet_of(block) for block in blocks) for subnet in networks(plan))
    assert not any(one.overlaps(other) for one, other in combinations(networks(plan), 2))
    assert not any(one.overlaps(other) for one, other in combinations(blocks, 2))


@given(st.sampled_from(["eksctl", "vpc-multi-az"]), st.integers(1, 3))
def test_a_zone_that_is_added_moves_no_subnet(layout, zones):
    before = plan_addresses(vpc(zones, addresses=layout))
    after = plan_addresses(vpc(zones + 1, addresses=layout))
    assert after.public[:zones] == before.public
    assert after.private[:zones] == before.private
    assert after.blocks[: len(before.blocks)] == before.blocks
