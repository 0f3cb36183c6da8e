"""A new VPC: its resources, their order, and their names."""

import json

import pulumi
import pytest

from trainyard.components.config.network import NewVpc
from trainyard.components.network.cluster_network import ClusterNetwork
from trainyard.components.network.network_plan import existing_network, plan_network

TAGS = {"team": "vision"}
LOGS = "arn:aws:logs:us-west-2:123456789012:log-group:dev-network-flow-logs-group"
ZONES = ("us-west-2a", "usw2-az1")


@pytest.fixture
def network(deploy):
    """Deploy the network of a stack file."""

    def run(zones=ZONES, **values):
        config = NewVpc(kind="new-vpc", availability_zones=zones, **values)
        plan = plan_network(
            config,
            region="us-west-2",
            public_subnet_tags={"kubernetes.io/role/elb": "1"},
            private_subnet_tags={"kubernetes.io/role/internal-elb": "1"},
        )

        def program():
            made = ClusterNetwork("dev-network", plan, tags=TAGS)
            pulumi.export("vpc", made.vpc_id)
            pulumi.export("subnets", made.subnet_ids())

        return deploy(program)

    return run


def before(cloud, name):
    """Return the names of a resource's dependencies."""
    urns = cloud.one(name).dependencies
    return {made.name for made in cloud.registered if made.urn in urns}


def made(cloud, kind):
    return {each.name: each.inputs for each in cloud.of_type(f"aws:ec2/{kind}")}


def test_nodes_find_names_in_the_vpc(network):
    """VPCM-05, VPC1-02: EKS nodes cannot register without both."""
    (vpc,) = made(network(), "vpc:Vpc").values()
    assert vpc["cidrBlock"] == "192.168.0.0/16"
    assert (vpc["enableDnsSupport"], vpc["enableDnsHostnames"]) == (True, True)
    assert vpc["tags"] == {"Name": "dev-network-vpc", "team": "vision"}


def test_a_subnet_lies_in_its_zone_given_by_name_or_by_id(network):
    """EKX-01: one public and one private subnet for each zone, tagged for load balancers."""
    subnets = made(network(), "subnet:Subnet")
    assert list(subnets) == [
        "dev-network-private-us-west-2a",
        "dev-network-private-usw2-az1",
        "dev-network-public-us-west-2a",
        "dev-network-public-usw2-az1",
    ]
    by_name = subnets["dev-network-public-us-west-2a"]
    assert (by_name["availabilityZone"], "availabilityZoneId" in by_name) == ("us-west-2a", False)
    by_id = subnets["dev-network-private-usw2-az1"]
    assert (by_id["availabilityZoneId"], "availabilityZone" in by_id) == ("usw2-az1", False)
    assert by_name["tags"]["kubernetes.io/role/elb"] == "1"
    assert by_id["tags"]["kubernetes.io/role/internal-elb"] == "1"
    assert "kubernetes.io/role/elb" not in by_id["tags"]


def test_only_public_subnets_hand_out_public_addresses(network):
    """VPCM-09, VPCM-10."""
    for name, subnet in made(network(), "subnet:Subnet").items():
        assert subnet["mapPublicIpOnLaunch"] is ("public" in name)


def test_a_subnet_waits_for_the_further_network_that_it_lies_in(network):
    """VPCM-06: parity trap (c)."""
    cloud = network(addresses="vpc-multi-az")
    (block,) = cloud.of_type("aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation")
    assert block.inputs["cidrBlock"] == "10.1.0.0/16"
    assert block.name in before(cloud, "dev-network-private-us-west-2a")


@pytest.mark.parametrize(
    ("nat_gateways", "through"),
    [
        pytest.param("single", {"us-west-2a": "us-west-2a", "usw2-az1": "us-west-2a"}, id="single"),
        pytest.param(
            "one-per-zone", {"us-west-2a": "us-west-2a", "usw2-az1": "usw2-az1"}, id="one-per-zone"
        ),
        pytest.param("none", {}, id="none"),
    ],
)
def test_private_subnets_leave_through_a_nat_gateway(network, nat_gateways, through):
    """VPCM-12, VPCM-14, EKX-01."""
    cloud = network(nat_gateways=nat_gateways)
    routes = made(cloud, "route:Route")
    assert {
        zone: routes[f"dev-network-private-{zone}-default"]["natGatewayId"] for zone in through
    } == {zone: f"dev-network-{to}-nat-id" for zone, to in through.items()}
    assert len(routes) == 1 + len(through)
    gateways = set(through.values())
    assert set(made(cloud, "natGateway:NatGateway")) == {f"dev-network-{z}-nat" for z in gateways}
    assert len(made(cloud, "eip:Eip")) == len(gateways)


def test_without_public_subnets_nothing_leads_to_the_internet(network):
    """VPCM-04, VPCM-09, VPCM-11 to VPCM-16."""
    cloud = network(public_subnets=False, nat_gateways="none", addresses="vpc-multi-az")
    assert list(made(cloud, "subnet:Subnet")) == [
        "dev-network-private-us-west-2a",
        "dev-network-private-usw2-az1",
    ]
    for absent in (
        "internetGateway:InternetGateway",
        "natGateway:NatGateway",
        "eip:Eip",
        "route:Route",
    ):
        assert made(cloud, absent) == {}
    tables = [f"{name}-id" for name in made(cloud, "routeTable:RouteTable")]
    assert sorted(tables) == [
        "dev-network-private-us-west-2a-routes-id",
        "dev-network-private-usw2-az1-routes-id",
    ]
    for endpoint in made(cloud, "vpcEndpoint:VpcEndpoint").values():
        assert sorted(endpoint["routeTableIds"]) == sorted(tables)


def test_public_subnets_share_a_table_that_leads_to_the_internet(network):
    """VPCM-13, VPCM-15."""
    cloud = network()
    (route,) = [r for r in made(cloud, "route:Route").values() if "gatewayId" in r]
    assert route["routeTableId"] == "dev-network-public-routes-id"
    assert route["destinationCidrBlock"] == "0.0.0.0/0"
    tables = {
        association["subnetId"]: association["routeTableId"]
        for association in made(cloud, "routeTableAssociation:RouteTableAssociation").values()
    }
    assert tables == {
        "dev-network-public-us-west-2a-id": "dev-network-public-routes-id",
        "dev-network-public-usw2-az1-id": "dev-network-public-routes-id",
        "dev-network-private-us-west-2a-id": "dev-network-private-us-west-2a-routes-id",
        "dev-network-private-usw2-az1-id": "dev-network-private-usw2-az1-routes-id",
    }


def test_addresses_and_nat_gateways_go_before_the_internet_gateway(network):
    """VPCM-23, DF-02: EC2 keeps a gateway while a public address needs it."""
    cloud = network()
    for name in ("dev-network-us-west-2a-nat", "dev-network-us-west-2a-address"):
        assert "dev-network-internet" in before(cloud, name)
    assert "dev-network-internet" in before(cloud, "dev-network-public-default")


def test_gateway_endpoints_have_a_route_in_every_table(network):
    """VPCM-16, VPCM-17."""
    cloud = network()
    endpoints = made(cloud, "vpcEndpoint:VpcEndpoint")
    assert {e["serviceName"] for e in endpoints.values()} == {
        "com.amazonaws.us-west-2.s3",
        "com.amazonaws.us-west-2.dynamodb",
    }
    for endpoint in endpoints.values():
        assert endpoint["vpcEndpointType"] == "Gateway"
        assert len(endpoint["routeTableIds"]) == 3


def test_interface_endpoints_answer_the_vpc_under_the_usual_names(network):
    cloud = network(
        addresses="vpc-multi-az", gateway_endpoints=(), interface_endpoints=("ecr.dkr", "sts")
    )
    endpoints = made(cloud, "vpcEndpoint:VpcEndpoint")
    assert set(endpoints) == {"dev-network-endpoints-ecr-dkr", "dev-network-endpoints-sts"}
    for endpoint in endpoints.values():
        assert endpoint["privateDnsEnabled"] is True
        assert endpoint["securityGroupIds"] == ["dev-network-endpoints-group-id"]
        assert endpoint["subnetIds"] == [
            "dev-network-private-us-west-2a-id",
            "dev-network-private-usw2-az1-id",
        ]
    rules = cloud.of_type("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
    assert {(r.inputs["cidrIpv4"], r.inputs["fromPort"], r.inputs["toPort"]) for r in rules} == {
        ("10.0.0.0/16", 443, 443),
        ("10.1.0.0/16", 443, 443),
    }


def test_flow_logs_go_to_the_group_that_the_role_may_write_to(network):
    """VPCM-18 to VPCM-20, DF-01: by reference and not by a literal name."""
    cloud = network(flow_logs=True)
    (log,) = made(cloud, "flowLog:FlowLog").values()
    assert log["logDestination"] == LOGS
    assert (log["trafficType"], log["vpcId"]) == ("ALL", "dev-network-vpc-id")
    assert cloud.one("dev-network-flow-logs-group").inputs["retentionInDays"] == 7
    policy = json.loads(cloud.one("dev-network-flow-logs-policy").inputs["policy"])
    assert log["logDestination"] in policy["Statement"][0]["Resource"]
    assert "dev-network-flow-logs-policy" in before(cloud, "dev-network-flow-logs-log")


def test_without_flow_logs_there_is_no_log_group(network):
    assert made(network(), "flowLog:FlowLog") == {}
    assert network().of_type("aws:cloudwatch/logGroup:LogGroup") == []


def test_a_zone_at_the_end_changes_nothing_that_was_there(network):
    options = {"flow_logs": True, "interface_endpoints": ("sts",), "nat_gateways": "single"}
    known = {each.name: each for each in network(ZONES, **options).registered}
    after = {each.name: each for each in network((*ZONES, "us-west-2d"), **options).registered}
    assert known.keys() < after.keys()
    # Endpoints are extended to the new zone; everything else is unchanged.
    changed = {n for n, each in known.items() if each.inputs != after[n].inputs}
    assert changed == {f"dev-network-endpoints-{s}" for s in ("s3", "dynamodb", "sts")}


def test_the_number_of_nat_gateways_changes_routes_only(network):
    known = {each.name: each for each in network(nat_gateways="single").registered}
    after = {each.name: each for each in network(nat_gateways="one-per-zone").registered}
    assert {n for n, each in known.items() if each.inputs != after[n].inputs} == {
        "dev-network-private-usw2-az1-default"
    }


def test_every_component_is_closed_and_tags_reach_everything(network):
    cloud = network(flow_logs=True, interface_endpoints=("sts",))
    assert {c.urn for c in cloud.registered if c.is_component} <= set(cloud.closed)
    for each in cloud.registered:
        if "tags" in each.inputs:
            assert each.inputs["tags"]["team"] == "vision"


def test_the_outputs_are_ids(network):
    assert network().exports["vpc"] == "dev-network-vpc-id"
    assert network().exports["subnets"][0] == "dev-network-public-us-west-2a-id"


def test_an_existing_vpc_adds_no_resource(deploy):
    plan = existing_network(
        "vpc-0a1", public_subnet_ids=("subnet-1",), private_subnet_ids=("subnet-2",)
    )

    def program():
        made = ClusterNetwork("dev-network", plan, tags=TAGS)
        assert list(made.ready) == []
        pulumi.export("vpc", made.vpc_id)
        pulumi.export("subnets", made.subnet_ids())
        with pytest.raises(KeyError):
            made.subnet_id("subnet-3")

    cloud = deploy(program)
    assert [each for each in cloud.registered if each.type.startswith("aws:")] == []
    assert cloud.exports == {"vpc": "vpc-0a1", "subnets": ["subnet-1", "subnet-2"]}
