"""Deletions that EC2 refuses while a network is in use, and objects that are deleted together."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.sandbox_aws import Account, refused


class Network:
    """A VPC with one subnet that reaches the internet through a NAT gateway."""

    def __init__(self, account: Account) -> None:
        self.ec2 = ec2 = account.ec2
        self.vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
        self.subnet = self.made_subnet(AvailabilityZoneId="usw2-az1")["SubnetId"]
        self.gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        ec2.attach_internet_gateway(InternetGatewayId=self.gateway, VpcId=self.vpc)
        self.address = ec2.allocate_address(Domain="vpc")["AllocationId"]
        made = ec2.create_nat_gateway(SubnetId=self.subnet, AllocationId=self.address)
        self.nat = made["NatGateway"]["NatGatewayId"]

    def made_subnet(self, **arguments: Any) -> dict[str, Any]:
        made = self.ec2.create_subnet(VpcId=self.vpc, CidrBlock="10.1.0.0/24", **arguments)
        return made["Subnet"]

    def delete_nat(self) -> None:
        self.ec2.delete_nat_gateway(NatGatewayId=self.nat)

    def detach(self) -> None:
        self.ec2.detach_internet_gateway(InternetGatewayId=self.gateway, VpcId=self.vpc)

    def delete_subnet(self) -> None:
        self.ec2.delete_subnet(SubnetId=self.subnet)

    def delete_vpc(self) -> None:
        self.ec2.delete_vpc(VpcId=self.vpc)

    def interfaces(self) -> list[str]:
        found = self.ec2.describe_network_interfaces(
            Filters=[{"Name": "vpc-id", "Values": [self.vpc]}]
        )
        return [each["NetworkInterfaceId"] for each in found["NetworkInterfaces"]]


@pytest.fixture
def network(account: Account) -> Network:
    return Network(account)


def test_a_subnet_by_zone_id_lies_in_that_zone_and_hands_out_no_public_address(network):
    (found,) = network.ec2.describe_subnets(SubnetIds=[network.subnet])["Subnets"]
    assert (found["AvailabilityZone"], found["AvailabilityZoneId"]) == ("us-west-2b", "usw2-az1")
    assert (found["MapPublicIpOnLaunch"], found["DefaultForAz"]) == (False, False)


def test_a_subnet_with_an_interface_in_it_stays(network):
    with refused("DependencyViolation"):
        network.delete_subnet()
    network.delete_nat()
    network.delete_subnet()


def test_a_gateway_stays_while_a_public_address_is_in_use(network):
    with refused("DependencyViolation"):
        network.detach()
    network.delete_nat()
    network.detach()


def test_an_address_in_use_is_not_released(network):
    with refused("InvalidIPAddress.InUse"):
        network.ec2.release_address(AllocationId=network.address)
    network.delete_nat()
    network.ec2.release_address(AllocationId=network.address)


def test_a_nat_gateway_takes_its_interface_along(network):
    assert len(network.interfaces()) == 1
    network.delete_nat()
    assert network.interfaces() == []


def test_a_public_nat_gateway_needs_an_address_and_a_way_out(network):
    with refused("MissingParameter"):
        network.ec2.create_nat_gateway(SubnetId=network.subnet)
    network.delete_nat()
    network.detach()
    with refused("Gateway.NotAttached"):
        network.ec2.create_nat_gateway(SubnetId=network.subnet, AllocationId=network.address)


def test_a_vpc_stays_until_everything_in_it_is_gone(network, account):
    ec2 = network.ec2
    group = account.group("own", network.vpc)
    endpoint = ec2.create_vpc_endpoint(
        VpcId=network.vpc, ServiceName="com.amazonaws.us-west-2.sts", VpcEndpointType="Interface"
    )["VpcEndpoint"]["VpcEndpointId"]
    steps = [
        network.delete_nat,
        network.delete_subnet,
        network.detach,
        lambda: ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint]),
        lambda: ec2.delete_security_group(GroupId=group),
    ]
    for step in steps:
        with refused("DependencyViolation"):
            network.delete_vpc()
        step()
    network.delete_vpc()
    assert network.vpc not in {vpc["VpcId"] for vpc in ec2.describe_vpcs()["Vpcs"]}


def test_an_interface_endpoint_has_an_interface_with_its_group_a_subnet(network, account):
    group = account.group("endpoints", network.vpc)
    before = set(network.interfaces())
    made = network.ec2.create_vpc_endpoint(
        VpcId=network.vpc,
        ServiceName="com.amazonaws.us-west-2.ecr.dkr",
        VpcEndpointType="Interface",
        SubnetIds=[network.subnet],
        SecurityGroupIds=[group],
    )["VpcEndpoint"]
    (interface,) = set(network.interfaces()) - before
    (found,) = network.ec2.describe_network_interfaces(NetworkInterfaceIds=[interface])[
        "NetworkInterfaces"
    ]
    assert [each["GroupId"] for each in found["Groups"]] == [group]
    assert found["SubnetId"] == network.subnet
    with refused("DependencyViolation"):
        network.ec2.delete_security_group(GroupId=group)
    network.ec2.delete_vpc_endpoints(VpcEndpointIds=[made["VpcEndpointId"]])
    assert set(network.interfaces()) == before
    network.ec2.delete_security_group(GroupId=group)


def test_an_endpoint_of_a_service_that_is_not_there_is_refused(network):
    with refused("InvalidServiceName"):
        network.ec2.create_vpc_endpoint(
            VpcId=network.vpc, ServiceName="com.amazonaws.us-west-2.nonsense"
        )


def test_the_routes_of_a_gateway_endpoint_follow_its_tables(network):
    ec2 = network.ec2
    first, second = (
        ec2.create_route_table(VpcId=network.vpc)["RouteTable"]["RouteTableId"] for _ in range(2)
    )
    endpoint = ec2.create_vpc_endpoint(
        VpcId=network.vpc,
        ServiceName="com.amazonaws.us-west-2.s3",
        VpcEndpointType="Gateway",
        RouteTableIds=[first],
    )["VpcEndpoint"]["VpcEndpointId"]

    def through_endpoint() -> set[str]:
        tables = ec2.describe_route_tables(RouteTableIds=[first, second])["RouteTables"]
        return {
            table["RouteTableId"]
            for table in tables
            if any(route.get("GatewayId") == endpoint for route in table["Routes"])
        }

    assert through_endpoint() == {first}
    ec2.modify_vpc_endpoint(VpcEndpointId=endpoint, AddRouteTableIds=[second])
    assert through_endpoint() == {first, second}
    ec2.modify_vpc_endpoint(VpcEndpointId=endpoint, RemoveRouteTableIds=[first])
    assert through_endpoint() == {second}
    ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint])
    assert through_endpoint() == set()
    assert ec2.describe_vpc_endpoints()["VpcEndpoints"] == []
