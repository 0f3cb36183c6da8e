"""The network architecture: a VPC, the groups that others share, and typed outputs."""

import pulumi
import pytest

from trainyard.components.config.network import NewVpc
from trainyard.components.config.network_outputs import NETWORK_OUTPUTS
from trainyard.components.network.network_plan import plan_network
from trainyard.components.network_stack.plan import NetworkStackPlan
from trainyard.components.network_stack.resources import NetworkArchitecture

SIX = tuple(f"us-east-1{letter}" for letter in "abcdef")


def network_plan(zones=("us-west-2b",), addresses="vpc-one-az", network=None, **changes):
    config = NewVpc(
        kind="new-vpc",
        availability_zones=zones,
        addresses=addresses,
        flow_logs=True,
        **(network or {}),
    )
    values = {
        "efa_security_group": True,
        "lustre_security_group": True,
        "deletion_protection": True,
        **changes,
    }
    return NetworkStackPlan(
        name="ml-vpc",
        region="us-west-2",
        tags={"team": "vision"},
        network=plan_network(config, region="us-west-2"),
        **values,
    )


@pytest.fixture
def architecture(deploy):
    """Deploy the architecture of a plan, with its outputs as the stack's exports."""

    def run(plan=None):
        made = plan or network_plan()

        def program():
            for name, value in NetworkArchitecture(made.name, made).outputs().items():
                pulumi.export(name, value)

        return deploy(program)

    return run


def rules(cloud, group):
    """Return direction, peer and ports of the rules of a group."""
    return {
        (
            "ingress" if "Ingress" in made.type else "egress",
            made.inputs.get("cidrIpv4") or made.inputs.get("referencedSecurityGroupId"),
            made.inputs.get("fromPort"),
            made.inputs.get("toPort"),
        )
        for made in cloud.registered
        if made.type.endswith("gressRule") and made.inputs["securityGroupId"] == group
    }


def test_members_of_the_efa_group_reach_each_other_both_ways(architecture):
    """VPC1-10 to VPC1-13, DF-04: the template for several zones had no such rules."""
    group = "ml-vpc-efa-group-id"
    for plan in (None, network_plan(("us-west-2a", "us-west-2b"), "vpc-multi-az")):
        assert rules(architecture(plan), group) == {
            ("ingress", group, None, None),
            ("egress", group, None, None),
            ("egress", "0.0.0.0/0", None, None),
        }


def test_lustre_is_reached_from_the_whole_vpc_on_all_its_ports(architecture):
    """VPC1-14, DF-03: 988 and 1018 to 1023, where the template had 1021 to 1023."""
    group = "ml-vpc-lustre-group-id"
    peers = (group, "10.0.0.0/16", "10.1.0.0/16")
    assert rules(architecture(), group) == {
        (direction, peer, *ports)
        for direction in ("ingress", "egress")
        for peer in peers
        for ports in ((988, 988), (1018, 1023))
    }


def test_groups_are_made_where_they_are_wanted(architecture):
    cloud = architecture(network_plan(efa_security_group=False, lustre_security_group=False))
    assert not cloud.of_type("aws:ec2/securityGroup:SecurityGroup")
    assert cloud.exports["security_group_ids"] == {}


def test_the_vpc_stays_while_others_live_in_it(architecture):
    for protected in (True, False):
        cloud = architecture(network_plan(deletion_protection=protected))
        made = [each for each in cloud.registered if not each.is_component]
        assert len(made) > 20
        assert {each.protect for each in made} == {protected}


def test_outputs_have_one_form_whatever_the_number_of_zones(architecture):
    """VPCM-22, VPC1-15, DF-04: lists of ids, where the templates exported texts under two names."""
    exports = architecture().exports
    assert exports == {
        "region": "us-west-2",
        "vpc_id": "ml-vpc-network-vpc-id",
        "cidrs": ["10.0.0.0/16", "10.1.0.0/16"],
        "availability_zones": ["us-west-2b"],
        "public_subnet_ids": ["ml-vpc-network-public-us-west-2b-id"],
        "private_subnet_ids": ["ml-vpc-network-private-us-west-2b-id"],
        "security_group_ids": {
            "efa": "ml-vpc-efa-group-id",
            "lustre": "ml-vpc-lustre-group-id",
        },
        "notes": [],
    }
    several = architecture(network_plan(SIX, "vpc-multi-az")).exports
    assert several.keys() == exports.keys()
    assert len(several["private_subnet_ids"]) == len(several["public_subnet_ids"]) == 6
    assert several["availability_zones"] == list(SIX)


def test_a_network_without_public_subnets_says_so_in_its_outputs(architecture):
    """VPCM-04, VPCM-22: the template then omits the export."""
    closed = {"public_subnets": False, "nat_gateways": "none"}
    exports = architecture(network_plan(network=closed)).exports
    assert exports["public_subnet_ids"] == []
    assert exports["private_subnet_ids"] == ["ml-vpc-network-private-us-west-2b-id"]


def test_outputs_are_what_other_stacks_read(architecture):
    assert set(NETWORK_OUTPUTS) <= architecture().exports.keys()


def test_every_component_is_closed_and_every_child_stays_inside(architecture):
    cloud = architecture()
    assert {made.urn for made in cloud.components()} <= set(cloud.closed)
    (top,) = (made for made in cloud.components() if "Architecture" in made.type)
    assert [made.name for made in cloud.registered if top.urn not in cloud.line(made)] == []


def test_every_resource_that_takes_tags_has_those_of_the_stack(architecture):
    untagged = [
        made.name
        for made in architecture().registered
        if isinstance(made.inputs.get("tags"), dict) and made.inputs["tags"].get("team") != "vision"
    ]
    assert untagged == []
