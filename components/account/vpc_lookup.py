"""Read a VPC that a stack adopts, and everything in it that the stack would create.

Sources, https://docs.aws.amazon.com/AWSEC2/latest/APIReference/: API_DescribeVpcs.html,
API_DescribeSubnets.html, API_DescribeRouteTables.html, API_DescribeInternetGateways.html,
API_DescribeNatGateways.html and API_DescribeVpcEndpoints.html.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.components.account.facts import (
    LayoutEndpoint,
    LayoutNat,
    LayoutSubnet,
    LayoutTable,
    VpcLayout,
)
from trainyard.components.account.lookup import AccountReader, vpc_attribute, with_ipv4
from trainyard.components.tagging import tag_map

CALLS = (
    "ec2:DescribeVpcs",
    "ec2:DescribeVpcAttribute",
    "ec2:DescribeSubnets",
    "ec2:DescribeRouteTables",
    "ec2:DescribeInternetGateways",
    "ec2:DescribeNatGateways",
    "ec2:DescribeVpcEndpoints",
)
"""The calls of `look_up_layout`."""
_ANYWHERE = "0.0.0.0/0"
_TARGETS = (
    "NatGatewayId",
    "TransitGatewayId",
    "VpcPeeringConnectionId",
    "NetworkInterfaceId",
    "GatewayId",
)


def look_up_layout(reader: AccountReader, vpc_id: str) -> VpcLayout | None:
    """Return the layout of a VPC; None if it does not exist, or a call is denied."""
    ec2 = reader.ec2
    answer = reader.ask("ec2:DescribeVpcs", ec2.describe_vpcs, VpcIds=[vpc_id])
    if not answer:
        return None
    (vpc,) = answer["Vpcs"]
    tables = list(_in(reader, "RouteTables", vpc_id))
    return VpcLayout(
        vpc_id=vpc_id,
        cidr=vpc["CidrBlock"],
        secondary={
            each["CidrBlock"]: each["AssociationId"]
            for each in vpc.get("CidrBlockAssociationSet", [])
            if each["CidrBlock"] != vpc["CidrBlock"]
            and each["CidrBlockState"]["State"] == "associated"
        },
        dns_support=vpc_attribute(reader, vpc_id, "EnableDnsSupport"),
        dns_hostnames=vpc_attribute(reader, vpc_id, "EnableDnsHostnames"),
        tags=tag_map(vpc.get("Tags")),
        internet_gateway_ids=tuple(
            each["InternetGatewayId"]
            for each in _in(reader, "InternetGateways", vpc_id, name="attachment.vpc-id")
        ),
        subnets=_subnets(reader, vpc_id, tables),
        tables={
            each["RouteTableId"]: LayoutTable(
                default_route=_default_route(each["Routes"]), tags=tag_map(each.get("Tags"))
            )
            for each in tables
        },
        nat_gateways={
            each["NatGatewayId"]: _nat(each)
            for each in _in(reader, "NatGateways", vpc_id)
            if each["State"] not in ("deleted", "deleting", "failed")
        },
        endpoints=_endpoints(reader, vpc_id),
    )


def _in(
    reader: AccountReader, what: str, vpc_id: str, *, name: str = "vpc-id"
) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a kind in a VPC."""
    operation = {
        "RouteTables": reader.ec2.describe_route_tables,
        "InternetGateways": reader.ec2.describe_internet_gateways,
        "Subnets": reader.ec2.describe_subnets,
        "NatGateways": reader.ec2.describe_nat_gateways,
        "VpcEndpoints": reader.ec2.describe_vpc_endpoints,
    }[what]
    # The parameter of DescribeNatGateways has another name than those of the other calls.
    filters = "Filter" if what == "NatGateways" else "Filters"
    wanted = {filters: [{"Name": name, "Values": [vpc_id]}]}
    for page in reader.pages(f"ec2:Describe{what}", operation, next_key="NextToken", **wanted):
        yield from page[what]


def _subnets(
    reader: AccountReader, vpc_id: str, tables: Iterable[Mapping[str, Any]]
) -> dict[str, LayoutSubnet]:
    explicit = {
        each["SubnetId"]: table["RouteTableId"]
        for table in tables
        for each in table.get("Associations", [])
        if "SubnetId" in each
    }
    return {
        each["SubnetId"]: LayoutSubnet(
            cidr=each["CidrBlock"],
            zone=each["AvailabilityZone"],
            zone_id=each["AvailabilityZoneId"],
            table_id=explicit.get(each["SubnetId"], ""),
        )
        for each in with_ipv4(reader, _in(reader, "Subnets", vpc_id))
    }


def _endpoints(reader: AccountReader, vpc_id: str) -> dict[str, LayoutEndpoint]:
    prefix = f"com.amazonaws.{reader.region}."
    return {
        each["VpcEndpointId"]: LayoutEndpoint(
            service=each["ServiceName"].removeprefix(prefix),
            kind=each["VpcEndpointType"],
            table_ids=frozenset(each.get("RouteTableIds", [])),
            tags=tag_map(each.get("Tags")),
        )
        for each in _in(reader, "VpcEndpoints", vpc_id)
        if each.get("ServiceName")
    }


def _default_route(routes: list[Mapping[str, Any]]) -> str:
    for route in routes:
        if route.get("DestinationCidrBlock") == _ANYWHERE:
            return next((str(route[key]) for key in _TARGETS if route.get(key)), "")
    return ""


def _nat(answer: Mapping[str, Any]) -> LayoutNat:
    addresses = answer.get("NatGatewayAddresses", [])
    kind = (answer.get("ConnectivityType", "public"), answer.get("AvailabilityMode", "zonal"))
    return LayoutNat(
        subnet_id=answer.get("SubnetId", ""),
        state=answer["State"],
        kind=" ".join(kind),
        allocation_ids=tuple(each["AllocationId"] for each in addresses if "AllocationId" in each),
    )
