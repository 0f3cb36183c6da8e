"""The cases of `aws_cases` for VPCs, their gateways and routes, endpoints and logs."""

from __future__ import annotations

from typing import Any

from tests.support.aws_cases import Case
from tests.support.sandbox_aws import PRIVATE_A, VPC, Account

TAGS = {"tags": {"team": "a"}}
NEW_VPC = "10.1.0.0/16"


def network_cases(account: Account) -> list[Case]:
    """Return a case for every type of a network; their prerequisites are in the account."""
    ec2 = account.ec2
    vpc = ec2.create_vpc(CidrBlock=NEW_VPC)["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.1.0.0/24", AvailabilityZone="us-west-2a")[
        "Subnet"
    ]["SubnetId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    return [
        *_of_vpc(ec2, vpc),
        *_of_routing(ec2, vpc, subnet),
        *_of_endpoints(subnet, vpc, account.group("endpoints", vpc)),
        *_of_logs(account, vpc),
    ]


def _of_vpc(ec2: Any, vpc: str) -> list[Case]:
    return [
        Case(
            "aws:ec2/vpc:Vpc",
            {"cidrBlock": "10.2.0.0/16", "enableDnsHostnames": True},
            TAGS,
            {"cidrBlock": "10.3.0.0/16"},
        ),
        Case(
            "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation",
            {"vpcId": vpc, "cidrBlock": "10.9.0.0/16"},
            None,
            {"cidrBlock": "10.8.0.0/16"},
        ),
        Case(
            "aws:ec2/subnet:Subnet",
            {"vpcId": vpc, "cidrBlock": "10.1.1.0/24", "availabilityZoneId": "usw2-az1"},
            {"mapPublicIpOnLaunch": True},
            {"cidrBlock": "10.1.2.0/24"},
        ),
        Case(
            "aws:ec2/internetGateway:InternetGateway",
            {"vpcId": ec2.create_vpc(CidrBlock="10.4.0.0/16")["Vpc"]["VpcId"]},
            TAGS,
        ),
    ]


def _of_routing(ec2: Any, vpc: str, subnet: str) -> list[Case]:
    addresses = [ec2.allocate_address(Domain="vpc")["AllocationId"] for _ in range(2)]
    nat = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=addresses[0])["NatGateway"]
    tables = [ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"] for _ in range(2)]
    return [
        Case("aws:ec2/eip:Eip", {"domain": "vpc"}, TAGS, {"domain": "standard"}),
        Case(
            "aws:ec2/natGateway:NatGateway",
            {"subnetId": subnet, "allocationId": addresses[1]},
            TAGS,
            {"subnetId": PRIVATE_A},
        ),
        Case("aws:ec2/routeTable:RouteTable", {"vpcId": vpc}, TAGS, {"vpcId": VPC}),
        Case(
            "aws:ec2/route:Route",
            {
                "routeTableId": tables[0],
                "destinationCidrBlock": "0.0.0.0/0",
                "natGatewayId": nat["NatGatewayId"],
            },
            None,
            {"routeTableId": tables[1]},
            imported_as="{routeTableId}_{destinationCidrBlock}",
        ),
        Case(
            "aws:ec2/routeTableAssociation:RouteTableAssociation",
            {"subnetId": subnet, "routeTableId": tables[0]},
            {"routeTableId": tables[1]},
            {"subnetId": PRIVATE_A},
            imported_as="{subnetId}/{routeTableId}",
        ),
    ]


def _of_endpoints(subnet: str, vpc: str, group: str) -> list[Case]:
    return [
        Case(
            "aws:ec2/vpcEndpoint:VpcEndpoint",
            {
                "vpcId": vpc,
                "serviceName": "com.amazonaws.us-west-2.ecr.dkr",
                "vpcEndpointType": "Interface",
                "subnetIds": [subnet],
                "securityGroupIds": [group],
                "privateDnsEnabled": True,
            },
            TAGS,
            {"serviceName": "com.amazonaws.us-west-2.sts"},
        ),
    ]


def _of_logs(account: Account, vpc: str) -> list[Case]:
    account.client("logs").create_log_group(logGroupName="flow")
    owner = account.ec2.describe_vpcs()["Vpcs"][0]["OwnerId"]
    logs = f"arn:aws:logs:us-west-2:{owner}:log-group:flow"
    return [
        Case(
            "aws:cloudwatch/logGroup:LogGroup",
            {"retentionInDays": 7},
            {"retentionInDays": 14},
            {"name": "other"},
        ),
        Case(
            "aws:ec2/flowLog:FlowLog",
            {"vpcId": vpc, "logDestination": logs, "iamRoleArn": account.role("flow")},
            TAGS,
            {"trafficType": "REJECT"},
        ),
    ]
