"""A VPC that others have created in the emulated account.

Its layout is that of https://github.com/terraform-aws-modules/terraform-aws-vpc with
`single_nat_gateway`: one route table for all private subnets, and no public addresses by default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv6Network
from typing import Any

ZONES = ("us-west-2a", "us-west-2b")
CIDR, SECONDARY = "10.40.0.0/16", "100.64.0.0/16"
PUBLIC = ("10.40.101.0/24", "10.40.102.0/24")
DNS = {"enableDnsSupport": "EnableDnsSupport", "enableDnsHostnames": "EnableDnsHostnames"}
PRIVATE = ("10.40.1.0/24", "100.64.0.0/17")


def tags(kind: str, name: str) -> list[dict[str, Any]]:
    """Return the tag specification of an object."""
    return [
        {
            "ResourceType": kind,
            "Tags": [{"Key": "Name", "Value": name}, {"Key": "Terraform", "Value": "true"}],
        }
    ]


NETWORK: Mapping[str, Any] = {
    "kind": "new-vpc",
    "availability_zones": [*ZONES],
    "cidr": CIDR,
    "secondary_cidrs": [SECONDARY],
    "public_subnet_cidrs": [*PUBLIC],
    "private_subnet_cidrs": [*PRIVATE],
    "nat_gateways": "single",
    "gateway_endpoints": ["s3"],
}
"""The network of a stack file that describes the VPC, without the ids to adopt."""


@dataclass(frozen=True, slots=True)
class MadeVpc:
    """The VPC: its keys in a stack file, and what the account answers about it."""

    ec2: Any
    """A client of the account."""
    network: dict[str, Any]
    """The section `network` of a stack file that adopts it."""

    @property
    def vpc_id(self) -> str:
        """Its id."""
        return self.network["adopt"]["vpc_id"]

    def seen(self) -> dict[str, Any]:
        """Return what the account answers about everything in the VPC, by call."""
        ec2, of = self.ec2, [{"Name": "vpc-id", "Values": [self.vpc_id]}]
        attached = [{"Name": "attachment.vpc-id", "Values": [self.vpc_id]}]
        return {
            "vpcs": ec2.describe_vpcs(VpcIds=[self.vpc_id])["Vpcs"],
            "dns": [
                ec2.describe_vpc_attribute(VpcId=self.vpc_id, Attribute=each)[key]
                for each, key in DNS.items()
            ],
            "subnets": ec2.describe_subnets(Filters=of)["Subnets"],
            "tables": ec2.describe_route_tables(Filters=of)["RouteTables"],
            "gateways": ec2.describe_internet_gateways(Filters=attached)["InternetGateways"],
            "nat": ec2.describe_nat_gateways(Filters=of)["NatGateways"],
            "addresses": ec2.describe_addresses()["Addresses"],
            "endpoints": ec2.describe_vpc_endpoints(Filters=of)["VpcEndpoints"],
        }

    def remove(self) -> None:
        """Delete everything of the VPC."""
        ec2, ids = self.ec2, self.network["adopt"]
        first = ids["zones"][ZONES[0]]
        ec2.delete_vpc_endpoints(VpcEndpointIds=[*ids["gateway_endpoint_ids"].values()])
        ec2.delete_nat_gateway(NatGatewayId=first["nat_gateway_id"])
        ec2.release_address(AllocationId=first["allocation_id"])
        gateway = {"InternetGatewayId": ids["internet_gateway_id"]}
        ec2.detach_internet_gateway(**gateway, VpcId=self.vpc_id)
        ec2.delete_internet_gateway(**gateway)
        for zone in ids["zones"].values():
            for key in ("public_subnet_id", "private_subnet_id"):
                ec2.delete_subnet(SubnetId=zone[key])
        for table in (ids["public_route_table_id"], first["private_route_table_id"]):
            ec2.delete_route_table(RouteTableId=table)
        ec2.delete_vpc(VpcId=self.vpc_id)


def make_vpc(ec2: Any) -> MadeVpc:
    """Create the VPC with a client of the account."""
    vpc = ec2.create_vpc(
        CidrBlock=CIDR,
        AmazonProvidedIpv6CidrBlock=True,
        InstanceTenancy="dedicated",
        TagSpecifications=tags("vpc", "ml"),
    )["Vpc"]["VpcId"]
    for name in DNS.values():
        ec2.modify_vpc_attribute(VpcId=vpc, **{name: {"Value": True}})
    block = ec2.associate_vpc_cidr_block(VpcId=vpc, CidrBlock=SECONDARY)["CidrBlockAssociation"]
    gateway = ec2.create_internet_gateway(TagSpecifications=tags("internet-gateway", "ml"))
    gateway_id = gateway["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway_id, VpcId=vpc)
    public, private = (_table(ec2, vpc, name) for name in ("public", "private"))
    subnets = {
        cidr: _subnet(ec2, vpc, zone, cidr, table)
        for cidrs, table in ((PUBLIC, public), (PRIVATE, private))
        for zone, cidr in zip(ZONES, cidrs, strict=True)
    }
    _add_ipv6(ec2, vpc, subnets[PUBLIC[0]])
    ec2.create_route(RouteTableId=public, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway_id)
    address = ec2.allocate_address(Domain="vpc", TagSpecifications=tags("elastic-ip", "ml-a"))
    nat = ec2.create_nat_gateway(
        SubnetId=subnets[PUBLIC[0]],
        AllocationId=address["AllocationId"],
        TagSpecifications=tags("natgateway", "ml-a"),
    )["NatGateway"]["NatGatewayId"]
    ec2.create_route(RouteTableId=private, DestinationCidrBlock="0.0.0.0/0", NatGatewayId=nat)
    endpoint = ec2.create_vpc_endpoint(
        VpcId=vpc,
        ServiceName="com.amazonaws.us-west-2.s3",
        VpcEndpointType="Gateway",
        RouteTableIds=[public, private],
        TagSpecifications=tags("vpc-endpoint", "ml-s3"),
    )["VpcEndpoint"]["VpcEndpointId"]
    adopted: dict[str, Any] = {
        "vpc_id": vpc,
        "cidr_association_ids": [block["AssociationId"]],
        "internet_gateway_id": gateway_id,
        "public_route_table_id": public,
        "gateway_endpoint_ids": {"s3": endpoint},
        "zones": {
            zone: {
                "public_subnet_id": subnets[PUBLIC[index]],
                "private_subnet_id": subnets[PRIVATE[index]],
                "private_route_table_id": private,
            }
            for index, zone in enumerate(ZONES)
        },
    }
    adopted["zones"][ZONES[0]] |= {
        "nat_gateway_id": nat,
        "allocation_id": address["AllocationId"],
    }
    return MadeVpc(ec2, {**NETWORK, "adopt": adopted})


def _add_ipv6(ec2: Any, vpc: str, subnet: str) -> None:
    """Give a subnet settings that a stack file does not describe."""
    (found,) = ec2.describe_vpcs(VpcIds=[vpc])["Vpcs"]
    (block,) = found["Ipv6CidrBlockAssociationSet"]
    first = next(IPv6Network(block["Ipv6CidrBlock"]).subnets(new_prefix=64))
    ec2.associate_subnet_cidr_block(SubnetId=subnet, Ipv6CidrBlock=str(first))
    ec2.modify_subnet_attribute(SubnetId=subnet, AssignIpv6AddressOnCreation={"Value": True})


def _table(ec2: Any, vpc: str, name: str) -> str:
    made = ec2.create_route_table(VpcId=vpc, TagSpecifications=tags("route-table", f"ml-{name}"))
    return made["RouteTable"]["RouteTableId"]


def _subnet(ec2: Any, vpc: str, zone: str, cidr: str, table: str) -> str:
    made = ec2.create_subnet(
        VpcId=vpc,
        AvailabilityZone=zone,
        CidrBlock=cidr,
        TagSpecifications=tags("subnet", f"ml-{cidr}"),
    )["Subnet"]["SubnetId"]
    ec2.associate_route_table(RouteTableId=table, SubnetId=made)
    return made
