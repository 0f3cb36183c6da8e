"""VPCs that others have created: one as facts, and one in the emulated account.

The layout of the second is that of https://github.com/terraform-aws-modules/terraform-aws-vpc with
`single_nat_gateway`: one route table for all private subnets, and no public addresses by default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv6Network
from typing import Any

from trainyard.components.network.facts import (
    LayoutEndpoint,
    LayoutNat,
    LayoutSubnet,
    LayoutTable,
    VpcLayout,
)

ZONES = ("us-west-2a", "us-west-2b")


def named(prefix: str, number: int) -> str:
    """Return an id of EC2."""
    return f"{prefix}-{number:017x}"


VPC, GATEWAY, BLOCK = named("vpc", 1), named("igw", 1), named("vpc-cidr-assoc", 1)
PUBLIC_TABLE, PRIVATE_TABLES = named("rtb", 0), (named("rtb", 1), named("rtb", 2))
PUBLIC, PRIVATE = (
    (named("subnet", 1), named("subnet", 2)),
    (named("subnet", 3), named("subnet", 4)),
)
NATS, ADDRESSES = (
    (named("nat", 1), named("nat", 2)),
    (named("eipalloc", 1), named("eipalloc", 2)),
)
S3 = named("vpce", 1)
PUBLIC_CIDRS, PRIVATE_CIDRS = (
    ("10.0.101.0/24", "10.0.102.0/24"),
    ("10.0.1.0/24", "100.64.0.0/17"),
)


def network(**changes: Any) -> dict[str, Any]:
    """Return the section `network` of a VPC with a NAT gateway for each zone."""
    zones = {
        zone: {
            "public_subnet_id": PUBLIC[index],
            "private_subnet_id": PRIVATE[index],
            "private_route_table_id": PRIVATE_TABLES[index],
            "nat_gateway_id": NATS[index],
            "allocation_id": ADDRESSES[index],
        }
        for index, zone in enumerate(ZONES)
    }
    return {
        "kind": "new-vpc",
        "availability_zones": [*ZONES],
        "cidr": "10.0.0.0/16",
        "secondary_cidrs": ["100.64.0.0/16"],
        "public_subnet_cidrs": [*PUBLIC_CIDRS],
        "private_subnet_cidrs": [*PRIVATE_CIDRS],
        "nat_gateways": "one-per-zone",
        "gateway_endpoints": ["s3"],
        "adopt": {
            "vpc_id": VPC,
            "cidr_association_ids": [BLOCK],
            "internet_gateway_id": GATEWAY,
            "public_route_table_id": PUBLIC_TABLE,
            "gateway_endpoint_ids": {"s3": S3},
            "zones": zones,
        },
    } | changes


def adopting(**changes: Any) -> dict[str, Any]:
    """Return the section with changes in `adopt`."""
    base = network()
    return base | {"adopt": base["adopt"] | changes}


def adopting_zone(zone: int, **changes: Any) -> dict[str, Any]:
    """Return the section with changes of one zone in `adopt`; None removes a key."""
    zones = dict(network()["adopt"]["zones"])
    changed = zones[ZONES[zone]] | changes
    zones[ZONES[zone]] = {key: value for key, value in changed.items() if value is not None}
    return adopting(zones=zones)


def layout(**changes: Any) -> VpcLayout:
    """Return the facts about the VPC."""
    subnets = {
        identity: LayoutSubnet(cidr=cidr, zone=ZONES[index], zone_id=f"usw2-az{index + 1}",
                               table_id=table)
        for ids, cidrs, tables in (
            (PUBLIC, PUBLIC_CIDRS, (PUBLIC_TABLE, PUBLIC_TABLE)),
            (PRIVATE, PRIVATE_CIDRS, PRIVATE_TABLES),
        )
        for index, (identity, cidr, table) in enumerate(zip(ids, cidrs, tables, strict=True))
    }  # fmt: skip
    tables = {PUBLIC_TABLE: LayoutTable(default_route=GATEWAY, tags={})} | {
        table: LayoutTable(default_route=nat, tags={})
        for table, nat in zip(PRIVATE_TABLES, NATS, strict=True)
    }
    return replace(
        VpcLayout(
            vpc_id=VPC,
            cidr="10.0.0.0/16",
            secondary={"100.64.0.0/16": BLOCK},
            dns_support=True,
            dns_hostnames=True,
            tags={"Name": "ml"},
            internet_gateway_ids=(GATEWAY,),
            subnets=subnets,
            tables=tables,
            nat_gateways={
                nat: LayoutNat(
                    subnet_id=subnet,
                    state="available",
                    kind="public zonal",
                    allocation_ids=(address,),
                )
                for nat, subnet, address in zip(NATS, PUBLIC, ADDRESSES, strict=True)
            },
            endpoints={
                S3: LayoutEndpoint(
                    service="s3",
                    kind="Gateway",
                    table_ids=frozenset({PUBLIC_TABLE, *PRIVATE_TABLES}),
                    tags={},
                )
            },
        ),
        **changes,
    )


CIDR, SECONDARY = "10.40.0.0/16", "100.64.0.0/16"
MADE_PUBLIC_CIDRS = ("10.40.101.0/24", "10.40.102.0/24")
_DNS = {"enableDnsSupport": "EnableDnsSupport", "enableDnsHostnames": "EnableDnsHostnames"}
MADE_PRIVATE_CIDRS = ("10.40.1.0/24", "100.64.0.0/17")


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
    "public_subnet_cidrs": [*MADE_PUBLIC_CIDRS],
    "private_subnet_cidrs": [*MADE_PRIVATE_CIDRS],
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
                for each, key in _DNS.items()
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
    for name in _DNS.values():
        ec2.modify_vpc_attribute(VpcId=vpc, **{name: {"Value": True}})
    block = ec2.associate_vpc_cidr_block(VpcId=vpc, CidrBlock=SECONDARY)["CidrBlockAssociation"]
    gateway = ec2.create_internet_gateway(TagSpecifications=tags("internet-gateway", "ml"))
    gateway_id = gateway["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway_id, VpcId=vpc)
    public, private = (_table(ec2, vpc, name) for name in ("public", "private"))
    subnets = {
        cidr: _subnet(ec2, vpc, zone, cidr, table)
        for cidrs, table in ((MADE_PUBLIC_CIDRS, public), (MADE_PRIVATE_CIDRS, private))
        for zone, cidr in zip(ZONES, cidrs, strict=True)
    }
    _add_ipv6(ec2, vpc, subnets[MADE_PUBLIC_CIDRS[0]])
    ec2.create_route(RouteTableId=public, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway_id)
    address = ec2.allocate_address(Domain="vpc", TagSpecifications=tags("elastic-ip", "ml-a"))
    nat = ec2.create_nat_gateway(
        SubnetId=subnets[MADE_PUBLIC_CIDRS[0]],
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
                "public_subnet_id": subnets[MADE_PUBLIC_CIDRS[index]],
                "private_subnet_id": subnets[MADE_PRIVATE_CIDRS[index]],
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
