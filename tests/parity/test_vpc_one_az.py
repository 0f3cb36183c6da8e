"""The VPC in one zone against its template: VPC1-01 to VPC1-16."""

from __future__ import annotations

import pytest

from tests.support.batch import only
from tests.support.network_stack import open_ports
from tests.support.parity import better, same
from tests.support.stacks import stack_plan
from trainyard.components.config.problems import ConfigError

STACK = "vpc-one-az"
NETWORKS = ("10.0.0.0/16", "10.1.0.0/16")


@pytest.fixture
def vpc(network):
    return network(STACK)


@better(
    "VPC1-01",
    "`VPCName`, `SubnetsAZ` (required), `CreateS3Endpoint`, `CreateDynamoDBEndpoint`",
    why="the zone by name or zone id; one that the region lacks is refused before anything is made",
)
def test_one_zone_is_given_and_looked_at(vpc, changed_network):
    assert vpc.plan.network.availability_zones == ("usw2-az1",)
    made = changed_network(STACK, network__gateway_endpoints=[])
    assert made.every("vpcEndpoint:VpcEndpoint") == []
    with pytest.raises(ConfigError, match="no such zone"):
        stack_plan(STACK, network__availability_zones=["us-west-2e"])


@same("VPC1-02", "VPC of 10.0.0.0/16 that resolves names and gives them")
def test_the_vpc_has_the_addresses_and_names_of_the_template(vpc):
    made = only(vpc.cloud, "aws:ec2/vpc:Vpc").inputs
    assert made["cidrBlock"] == "10.0.0.0/16"
    assert made["enableDnsSupport"] is made["enableDnsHostnames"] is True


@same("VPC1-03", "10.1.0.0/16 as a second network")
def test_the_second_network_is_there_before_its_subnet(vpc):
    block = only(vpc.cloud, "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation")
    assert block.inputs["cidrBlock"] == "10.1.0.0/16"
    private = vpc.cloud.one(f"{STACK}-network-private-usw2-az1")
    assert block.urn in private.dependencies


@same("VPC1-04", "Public subnet 10.0.0.0/17, which gives public addresses")
@same("VPC1-05", "Private subnet 10.1.0.0/17")
def test_the_subnets_have_the_addresses_of_the_template(vpc):
    (public,), (private,) = vpc.subnets(public=True), vpc.subnets(public=False)
    assert (public["cidrBlock"], public["mapPublicIpOnLaunch"]) == ("10.0.0.0/17", True)
    assert (private["cidrBlock"], private["mapPublicIpOnLaunch"]) == ("10.1.0.0/17", False)
    assert {public["availabilityZoneId"], private["availabilityZoneId"]} == {"usw2-az1"}


@same("VPC1-06", "An internet gateway, and a NAT gateway with an Elastic IP in the public subnet")
def test_both_gateways_are_there(vpc):
    assert only(vpc.cloud, "aws:ec2/internetGateway:InternetGateway").inputs["vpcId"]
    nat = only(vpc.cloud, "aws:ec2/natGateway:NatGateway").inputs
    assert nat["subnetId"] == f"{STACK}-network-public-usw2-az1-id"
    assert nat["allocationId"] == f"{only(vpc.cloud, 'aws:ec2/eip:Eip').name}-id"


@same("VPC1-07", "A public and a private route table with their default routes and subnets")
def test_each_subnet_has_its_way_out(vpc):
    found = {r.name: r.inputs for r in vpc.every("route:Route")}
    public = found[f"{STACK}-network-public-default"]
    private = found[f"{STACK}-network-private-usw2-az1-default"]
    assert public["gatewayId"] == f"{STACK}-network-internet-id"
    assert private["natGatewayId"] == f"{STACK}-network-usw2-az1-nat-id"
    assert len(vpc.every("routeTable:RouteTable")) == 2
    assert len(vpc.every("routeTableAssociation:RouteTableAssociation")) == 2


@same("VPC1-08", "Gateway endpoints of S3 and DynamoDB on both tables, open to all")
def test_gateway_endpoints_are_on_both_tables(vpc):
    made = vpc.every("vpcEndpoint:VpcEndpoint")
    assert [e.inputs["serviceName"].rpartition(".")[2] for e in made] == ["dynamodb", "s3"]
    assert all(len(e.inputs["routeTableIds"]) == 2 for e in made)
    assert not any("policy" in e.inputs for e in made)


@better(
    "VPC1-09",
    "Flow logs, to a group of the literal name `FlowLogsGroup`",
    why="to the group that is made, kept for seven days",
)
def test_flow_logs_go_to_their_own_group(vpc):
    log = only(vpc.cloud, "aws:ec2/flowLog:FlowLog").inputs
    assert log["logDestination"].endswith(f":{STACK}-network-flow-logs-group")
    assert only(vpc.cloud, "aws:cloudwatch/logGroup:LogGroup").inputs["retentionInDays"] == 7


@better(
    "VPC1-10",
    "A security group for EFA",
    why="it can be left out where every cluster brings its own",
)
def test_the_security_group_of_efa_is_optional(vpc, changed_network):
    assert vpc.cloud.exports["security_group_ids"]["efa"] == f"{STACK}-efa-group-id"
    made = changed_network(STACK, architecture__efa_security_group=False)
    assert "efa" not in made.cloud.exports["security_group_ids"]


@same("VPC1-11", "All traffic in from the group itself")
def test_members_let_each_other_in(vpc):
    assert open_ports(vpc.rules("efa", "Ingress")) == {("-1", None, None, "self")}


@same("VPC1-12", "All traffic out to the group itself, as a rule of its own")
@same("VPC1-13", "All traffic out to the world")
def test_members_reach_each_other_and_the_world(vpc):
    assert open_ports(vpc.rules("efa", "Egress")) == {
        ("-1", None, None, "self"),
        ("-1", None, None, "0.0.0.0/0"),
    }


@better(
    "VPC1-14",
    "Ports 988 and 1021 to 1023 in and out, within both networks",
    why="988 and 1018 to 1023, as FSx documents them, and between members of the group",
)
def test_lustre_reaches_its_clients_on_all_of_its_ports(vpc):
    expected = {
        ("tcp", first, last, peer)
        for first, last in ((988, 988), (1018, 1023))
        for peer in (*NETWORKS, "self")
    }
    for direction in ("Ingress", "Egress"):
        assert open_ports(vpc.rules("lustre", direction)) == expected


@better(
    "VPC1-15",
    "Exports: VPC, subnets, both security groups, as texts by name",
    why="the same names as those of the VPC in several zones, and lists",
)
def test_the_outputs_are_those_of_every_network(vpc, network):
    exports = vpc.cloud.exports
    assert set(exports) == set(network("vpc-multi-az").cloud.exports)
    assert exports["public_subnet_ids"] == [f"{STACK}-network-public-usw2-az1-id"]
    assert exports["private_subnet_ids"] == [f"{STACK}-network-private-usw2-az1-id"]
    assert exports["security_group_ids"] == {
        "efa": f"{STACK}-efa-group-id",
        "lustre": f"{STACK}-lustre-group-id",
    }


@better(
    "VPC1-16",
    "The public route does not wait for the attachment of the gateway",
    why="it does: attaching is part of making the gateway",
)
def test_the_public_route_comes_after_the_attachment(vpc):
    route = vpc.cloud.one(f"{STACK}-network-public-default")
    assert vpc.cloud.one(f"{STACK}-network-internet").urn in route.dependencies
