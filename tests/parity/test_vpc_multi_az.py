"""The VPC in several zones against its template: VPCM-01 to VPCM-23."""

from __future__ import annotations

import json

import pytest

from tests.support.batch import only
from tests.support.network_stack import new_network, open_ports
from tests.support.parity import better, same
from tests.support.stacks import stack_plan
from trainyard.components.config.problems import ConfigError
from trainyard.components.network.network_plan import plan_network

STACK = "vpc-multi-az"
SIX = tuple(f"use1-az{number}" for number in range(1, 7))


@pytest.fixture
def vpc(network):
    return network(STACK)


def planned(zones):
    return plan_network(new_network(*SIX[:zones]), region="us-east-1")


@better("VPCM-01", "`VPCName`: a name", why="`name` is the prefix of every name, not of the VPC's")
def test_everything_is_named_after_the_stack(vpc):
    names = [s.inputs["tags"]["Name"] for s in vpc.every("subnet:Subnet")]
    names += [vpc.every("vpc:Vpc")[0].inputs["tags"]["Name"]]
    assert names
    assert all(name.startswith(f"{STACK}-network-") for name in names)


@better(
    "VPCM-02",
    "`AvailabilityZones`: names of zones, their order kept",
    why="by name or by zone id, which is the same in every account; two of one zone are refused",
)
def test_zones_keep_their_order(changed_network):
    made = changed_network(STACK, network__availability_zones=["us-west-2c", "usw2-az1"])
    assert made.plan.network.availability_zones == ("us-west-2c", "usw2-az1")
    private = {s.name: s.inputs["cidrBlock"] for s in made.every("subnet:Subnet")}
    assert private[f"{STACK}-network-private-us-west-2c"] == "10.1.0.0/17"
    with pytest.raises(ConfigError, match="listed twice"):
        stack_plan(STACK, network__availability_zones=["us-west-2b", "usw2-az1"])


@better(
    "VPCM-03",
    "`NumberOfAZs`: 2 to 6, which must be the length of the list",
    why="the list is its own length",
)
def test_there_are_as_many_zones_as_are_listed(vpc):
    assert len(vpc.subnets(public=False)) == 2
    assert [len(planned(zones).private_subnets) for zones in range(2, 7)] == [2, 3, 4, 5, 6]


@better(
    "VPCM-04",
    "`CreatePublicSubnets`, `CreateS3Endpoint`, `CreateDynamoDBEndpoint`: true or false",
    why=(
        "`public_subnets` and `gateway_endpoints` are the switches, and `nat_gateways` is one of "
        "its own; what lives in a VPC that nothing leaves is refused where it could not start"
    ),
)
def test_public_subnets_gateways_and_endpoints_can_be_left_out(changed_network):
    closed = changed_network(STACK, network__public_subnets=False, network__nat_gateways="none")
    assert [closed.subnets(public=True), len(closed.subnets(public=False))] == [[], 2]
    for kind in ("internetGateway:InternetGateway", "natGateway:NatGateway", "route:Route"):
        assert closed.every(kind) == []
    made = changed_network(STACK, network__nat_gateways="none", network__gateway_endpoints=["s3"])
    assert made.every("natGateway:NatGateway") == made.every("eip:Eip") == []
    assert [e.inputs["serviceName"] for e in made.every("vpcEndpoint:VpcEndpoint")] == [
        "com.amazonaws.us-west-2.s3"
    ]


@same("VPCM-05", "VPC of 10.0.0.0/16 that resolves names and gives them")
def test_the_vpc_has_the_addresses_and_names_of_the_template(vpc):
    made = only(vpc.cloud, "aws:ec2/vpc:Vpc").inputs
    assert made["cidrBlock"] == "10.0.0.0/16"
    assert made["enableDnsSupport"] is made["enableDnsHostnames"] is True


@same("VPCM-06", "10.1.0.0/16 as a second network, always")
def test_the_second_network_is_always_there(vpc):
    block = only(vpc.cloud, "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation")
    assert block.inputs["cidrBlock"] == "10.1.0.0/16"


@same("VPCM-07", "10.2.0.0/16 from three zones on")
@same("VPCM-08", "10.3.0.0/16 from five zones on")
def test_further_networks_come_with_further_zones():
    assert [planned(zones).secondary_cidrs for zones in range(2, 7)] == [
        ("10.1.0.0/16",),
        ("10.1.0.0/16", "10.2.0.0/16"),
        ("10.1.0.0/16", "10.2.0.0/16"),
        ("10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16"),
        ("10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16"),
    ]


@same("VPCM-09", "A public /24 in each zone, which gives public addresses")
def test_public_subnets_have_the_addresses_of_the_template(vpc):
    made = vpc.subnets(public=True)
    assert [s["cidrBlock"] for s in made] == ["10.0.0.0/24", "10.0.1.0/24"]
    assert all(s["mapPublicIpOnLaunch"] for s in made)
    assert [s.cidr for s in planned(6).public_subnets] == [
        f"10.0.{third}.0/24" for third in (0, 1, 10, 11, 20, 21)
    ]


@same("VPCM-10", "A private /17 in each zone, which gives none")
def test_private_subnets_have_the_addresses_of_the_template(vpc):
    made = vpc.subnets(public=False)
    assert [s["cidrBlock"] for s in made] == ["10.1.0.0/17", "10.1.128.0/17"]
    assert not any(s["mapPublicIpOnLaunch"] for s in made)
    assert [s.cidr for s in planned(6).private_subnets] == [
        f"10.{second}.{third}.0/17" for second in (1, 2, 3) for third in (0, 128)
    ]


@same("VPCM-11", "An internet gateway, attached")
def test_the_internet_gateway_is_in_the_vpc(vpc):
    gateway = only(vpc.cloud, "aws:ec2/internetGateway:InternetGateway")
    assert gateway.inputs["vpcId"] == f"{STACK}-network-vpc-id"


@better(
    "VPCM-12",
    "One NAT gateway with an Elastic IP in the first public subnet",
    why="the same, and `nat_gateways: one-per-zone` survives the loss of the first zone",
)
def test_one_nat_gateway_serves_all_zones_or_each_has_its_own(vpc, changed_network):
    gateway = only(vpc.cloud, "aws:ec2/natGateway:NatGateway").inputs
    assert gateway["subnetId"] == f"{STACK}-network-public-usw2-az1-id"
    assert only(vpc.cloud, "aws:ec2/eip:Eip").inputs["domain"] == "vpc"
    each = changed_network(STACK, network__nat_gateways="one-per-zone")
    assert len(each.every("natGateway:NatGateway")) == 2


def routes(vpc):
    """Return the target of the default route of each route table."""
    return {
        r.inputs["routeTableId"]: r.inputs.get("gatewayId") or r.inputs["natGatewayId"]
        for r in vpc.every("route:Route")
        if r.inputs["destinationCidrBlock"] == "0.0.0.0/0"
    }


@same("VPCM-13", "One public route table with a route to the internet gateway")
def test_public_subnets_share_a_route_to_the_internet(vpc):
    to_internet = [table for table, to in routes(vpc).items() if to.endswith("-internet-id")]
    assert to_internet == [f"{STACK}-network-public-routes-id"]


@better(
    "VPCM-14",
    "One private route table with a route to the NAT gateway",
    why="a table for each zone, so that a NAT gateway of its own moves no other zone",
)
def test_private_subnets_have_a_route_to_the_nat_gateway(vpc, changed_network):
    to_nat = [table for table, to in routes(vpc).items() if to.endswith("-nat-id")]
    assert to_nat == [f"{STACK}-network-private-usw2-az{n}-routes-id" for n in (1, 2)]
    without = changed_network(STACK, network__nat_gateways="none")
    assert [to for to in routes(without).values() if not to.endswith("-internet-id")] == []


@same("VPCM-15", "Every subnet is in a route table")
def test_every_subnet_has_its_route_table(vpc):
    made = vpc.every("routeTableAssociation:RouteTableAssociation")
    tables = {a.inputs["subnetId"]: a.inputs["routeTableId"] for a in made}
    public = f"{STACK}-network-public-routes-id"
    assert len(tables) == 4
    assert {("-public-" in subnet, table == public) for subnet, table in tables.items()} == {
        (True, True),
        (False, False),
    }


@same("VPCM-16", "A gateway endpoint of S3 on every route table, open to all")
@same("VPCM-17", "The same of DynamoDB")
def test_gateway_endpoints_are_on_every_route_table(vpc):
    made = vpc.every("vpcEndpoint:VpcEndpoint")
    assert [e.inputs["serviceName"].rpartition(".")[2] for e in made] == ["dynamodb", "s3"]
    for endpoint in made:
        assert endpoint.inputs["vpcEndpointType"] == "Gateway"
        assert len(endpoint.inputs["routeTableIds"]) == 3
        # AWS's default policy allows all actions to all principals.
        assert "policy" not in endpoint.inputs


@better(
    "VPCM-18",
    "A role of flow logs with four actions on the log group, for flow logs of any account",
    why="flow logs of the account and region alone can take it, as AWS recommends",
)
def test_flow_logs_may_write_to_their_group_only(vpc):
    trust = json.loads(only(vpc.cloud, "aws:iam/role:Role").inputs["assumeRolePolicy"])
    (statement,) = trust["Statement"]
    assert statement["Principal"]["Service"].startswith("vpc-flow-logs.")
    # https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs-iam-role.html
    assert statement["Condition"] == {
        "StringEquals": {"aws:SourceAccount": "123456789012"},
        "ArnLike": {"aws:SourceArn": "arn:aws:ec2:us-west-2:123456789012:vpc-flow-log/*"},
    }
    (allowed,) = json.loads(only(vpc.cloud, "aws:iam/rolePolicy:RolePolicy").inputs["policy"])[
        "Statement"
    ]
    assert allowed["Action"] == [
        "logs:CreateLogStream",
        "logs:PutLogEvents",
        "logs:DescribeLogGroups",
        "logs:DescribeLogStreams",
    ]
    assert all(f"{STACK}-network-flow-logs-group" in arn for arn in allowed["Resource"])


@same("VPCM-19", "A log group that keeps seven days")
def test_flow_logs_are_kept_for_a_week(vpc):
    assert only(vpc.cloud, "aws:cloudwatch/logGroup:LogGroup").inputs["retentionInDays"] == 7


@better(
    "VPCM-20",
    "Flow logs of all traffic, to a group of the literal name `FlowLogsGroup`",
    why="to the group that is made and that the role may write to",
)
def test_flow_logs_go_to_their_own_group(vpc):
    log = only(vpc.cloud, "aws:ec2/flowLog:FlowLog").inputs
    assert log["trafficType"] == "ALL"
    assert log["logDestination"].endswith(f":{STACK}-network-flow-logs-group")


@better(
    "VPCM-21",
    "A security group that lets everything out and nothing in",
    why="its members reach each other, in and out, which EFA needs",
)
def test_members_of_the_security_group_reach_each_other(vpc):
    assert open_ports(vpc.rules("efa", "Ingress")) == {("-1", None, None, "self")}
    assert open_ports(vpc.rules("efa", "Egress")) == {
        ("-1", None, None, "self"),
        ("-1", None, None, "0.0.0.0/0"),
    }


@better(
    "VPCM-22",
    "Exports: VPC, public subnet, private subnets, security group, as texts by name",
    why="lists of ids, with the same names whatever the number of zones",
)
def test_the_outputs_are_what_other_stacks_read(vpc):
    exports = vpc.cloud.exports
    assert exports["vpc_id"] == f"{STACK}-network-vpc-id"
    assert exports["public_subnet_ids"] == [f"{STACK}-network-public-usw2-az{n}-id" for n in (1, 2)]
    assert exports["private_subnet_ids"] == [
        f"{STACK}-network-private-usw2-az{n}-id" for n in (1, 2)
    ]
    assert exports["security_group_ids"] == {"efa": f"{STACK}-efa-group-id"}


@better(
    "VPCM-23",
    "The public route does not wait for the attachment of the gateway",
    why="it does: attaching is part of making the gateway",
)
def test_the_public_route_comes_after_the_attachment(vpc):
    route = vpc.cloud.one(f"{STACK}-network-public-default")
    gateway = vpc.cloud.one(f"{STACK}-network-internet")
    assert gateway.inputs["vpcId"]
    assert gateway.urn in route.dependencies
