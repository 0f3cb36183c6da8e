"""The users of a VPC, from the sandbox's account."""

from __future__ import annotations

import pytest

from tests.support.sandbox_aws import OF_OTHERS, Account, use_account  # before boto3 makes a client

from trainyard.components.account.reader import AccountReader  # isort: skip
from trainyard.components.network.lookup import vpc_inhabitants  # isort: skip
from trainyard.sandbox.aws.server import AwsServer  # isort: skip


@pytest.fixture(scope="module")
def account():
    """One account for all tests: each has its own VPC."""
    with AwsServer(keep_time=False, of_others=OF_OTHERS) as server:
        yield Account(server)


class Network:
    """A VPC with a subnet, a NAT gateway, an interface endpoint and a group, all of one stack."""

    def __init__(self, account: Account) -> None:
        self.ec2, self.account = account.ec2, account
        self.vpc = self.ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
        subnet = self.ec2.create_subnet(VpcId=self.vpc, CidrBlock="10.1.0.0/24")["Subnet"]
        self.subnet = subnet["SubnetId"]
        internet = self.ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        self.ec2.attach_internet_gateway(InternetGatewayId=internet, VpcId=self.vpc)
        self.group = account.group("efa", self.vpc)
        self.own = {self.vpc, self.subnet, self.group, self.made_gateway(), self.made_endpoint()}

    def made_gateway(self) -> str:
        address = self.ec2.allocate_address(Domain="vpc")["AllocationId"]
        made = self.ec2.create_nat_gateway(SubnetId=self.subnet, AllocationId=address)
        return made["NatGateway"]["NatGatewayId"]

    def made_endpoint(self) -> str:
        made = self.ec2.create_vpc_endpoint(
            VpcId=self.vpc,
            ServiceName="com.amazonaws.us-west-2.sts",
            VpcEndpointType="Interface",
            SubnetIds=[self.subnet],
            SecurityGroupIds=[self.group],
        )
        return made["VpcEndpoint"]["VpcEndpointId"]

    def inhabitants(self):
        return vpc_inhabitants(AccountReader(region="us-west-2"), self.vpc, self.own)


@pytest.fixture
def network(account: Account, monkeypatch: pytest.MonkeyPatch) -> Network:
    use_account(monkeypatch, account.server.access)
    return Network(account)


def test_nobody_lives_in_a_network_that_holds_its_own_parts_only(network):
    """The default group is deleted with its VPC; interfaces with their gateways and endpoints."""
    assert network.inhabitants() == ()


def test_a_security_group_of_another_stack_is_told_with_its_owner(network):
    group = network.account.group("nodes", network.vpc)
    tags = {"Name": "batch-p5-nodes", "trainyard:cluster": "batch-p5"}
    network.ec2.create_tags(
        Resources=[group], Tags=[{"Key": key, "Value": value} for key, value in tags.items()]
    )
    (found,) = network.inhabitants()
    assert (found.identifier, found.kind) == (group, "security group")
    assert (found.name, found.cluster) == ("batch-p5-nodes", "batch-p5")


def test_an_interface_in_a_group_of_the_network_is_an_inhabitant(network):
    made = network.ec2.create_network_interface(
        SubnetId=network.subnet, Groups=[network.group], Description="a head node"
    )
    (found,) = network.inhabitants()
    assert found.identifier == made["NetworkInterface"]["NetworkInterfaceId"]
    assert (found.name, found.cluster) == ("a head node", None)


def test_gateways_and_endpoints_of_others_are_inhabitants_too(network):
    network.made_gateway()
    endpoint = network.made_endpoint()
    found = network.inhabitants()
    assert endpoint in {each.identifier for each in found}
    assert [each.kind for each in found].count("network interface") == 2


def test_nobody_lives_in_a_vpc_that_is_gone(network):
    network.vpc = "vpc-00000000000000000"
    assert network.inhabitants() == ()
