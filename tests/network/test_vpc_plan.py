"""From the network of a stack file to its plan."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.components.config.network import ExistingVpc, NewVpc
from trainyard.components.network.network_plan import plan_network

ZONES = ("us-west-2b", "usw2-az3", "us-west-2a", "us-west-2d")


def plan(zones=ZONES[:2], **changes):
    network = NewVpc(kind="new-vpc", availability_zones=zones, **changes)
    return plan_network(network, region="us-west-2", public_subnet_tags={"role": "elb"})


def test_an_existing_vpc_is_its_ids():
    adopted = ExistingVpc(
        kind="existing-vpc",
        vpc_id="vpc-0123456789abcdef0",
        public_subnet_ids=("subnet-0123456789abcdef0",),
        private_subnet_ids=("subnet-0123456789abcdef1",),
    )
    found = plan_network(adopted, region="us-west-2")
    assert (found.is_new, found.vpc_id) == (False, "vpc-0123456789abcdef0")
    assert [(s.name, s.subnet_id, s.public) for s in found.subnets] == [
        ("subnet-0123456789abcdef0", "subnet-0123456789abcdef0", True),
        ("subnet-0123456789abcdef1", "subnet-0123456789abcdef1", False),
    ]
    assert (found.blocks, found.availability_zones, found.nat_gateways) == ((), (), ())
    assert found.subnets[0].usable_addresses is None


def test_subnets_are_named_by_kind_and_zone_as_the_stack_file_says_it():
    """EKS-04: a zone by name or by zone id."""
    assert [subnet.name for subnet in plan().subnets] == [
        "public-us-west-2b",
        "public-usw2-az3",
        "private-us-west-2b",
        "private-usw2-az3",
    ]
    assert plan().availability_zones == ZONES[:2]
    assert plan().subnet("private-usw2-az3").usable_addresses == 2**13 - 5
    with pytest.raises(KeyError):
        plan().subnet("private-us-west-2a")


@pytest.mark.parametrize(
    ("nat_gateways", "used"),
    [
        pytest.param("none", [None, None], id="none"),
        pytest.param("single", ["public-us-west-2b", "public-us-west-2b"], id="single"),
        pytest.param("one-per-zone", ["public-us-west-2b", "public-usw2-az3"], id="zone"),
    ],
)
def test_each_private_subnet_knows_its_nat_gateway(nat_gateways, used):
    """VPCM-12, VPCM-14: a single one is in the first zone."""
    found = plan(nat_gateways=nat_gateways)
    assert [found.nat_gateway_of(subnet) for subnet in found.private_subnets] == used
    assert set(found.nat_gateways) == set(filter(None, used))


def test_without_public_subnets_private_ones_keep_their_addresses():
    """VPCM-04: adding or removing a public subnet changes no private one."""
    closed = plan(public_subnets=False, nat_gateways="none")
    assert closed.public_subnets == ()
    assert closed.private_subnets == plan().private_subnets
    assert [closed.nat_gateway_of(subnet) for subnet in closed.private_subnets] == [None, None]


def test_services_have_their_full_names_once():
    found = plan(gateway_endpoints=("s3",), interface_endpoints=("ecr.dkr", "sts", "ecr.dkr"))
    assert found.gateway_endpoints == ("com.amazonaws.us-west-2.s3",)
    assert found.interface_endpoints == (
        "com.amazonaws.us-west-2.ecr.dkr",
        "com.amazonaws.us-west-2.sts",
    )


def test_tags_of_subnets_are_those_of_the_architecture():
    assert plan().public_subnet_tags == {"role": "elb"}
    assert plan().private_subnet_tags == {}


@given(st.integers(1, 4), st.sampled_from(["none", "single", "one-per-zone"]))
def test_there_is_one_public_and_one_private_subnet_a_zone(zones, nat_gateways):
    found = plan(ZONES[:zones], nat_gateways=nat_gateways)
    for kind in (found.public_subnets, found.private_subnets):
        assert tuple(subnet.availability_zone for subnet in kind) == ZONES[:zones]
    assert len({subnet.name for subnet in found.subnets}) == 2 * zones
    assert plan(ZONES[:zones], nat_gateways=nat_gateways) == found
