"""Read networks: VPCs, subnets, zones and security groups, and all that is in a VPC."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from trainyard.components.account.reader import AccountReader, readable
from trainyard.components.network.facts import (
    DefaultRoute,
    IngressFacts,
    LayoutEndpoint,
    LayoutNat,
    LayoutSubnet,
    LayoutTable,
    SubnetFacts,
    VpcFacts,
    VpcLayout,
    ZoneFacts,
)
from trainyard.components.tagging import CLUSTER_TAG, tag_map

# Networks.
#
# Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Types.html


def default_route_kind(routes: list[dict[str, Any]]) -> DefaultRoute:
    """Return the default route of a route table, from `Routes`."""
    for route in routes:
        if route.get("DestinationCidrBlock") != "0.0.0.0/0" or route.get("State") == "blackhole":
            continue
        if route.get("GatewayId", "").startswith("igw-"):
            return "internet-gateway"
        if route.get("NatGatewayId") or route.get("InstanceId"):
            return "nat"
        return "other"
    return "none"


NO_IPV4 = "it has no IPv4 block, and nodes have IPv4 addresses"
"""Why a subnet is left out."""


def look_up_vpc(reader: AccountReader, vpc_id: str) -> VpcFacts | None:
    """Return the VPC, or None if it does not exist."""
    answer = reader.ask("ec2:DescribeVpcs", reader.ec2.describe_vpcs, VpcIds=[vpc_id])
    if not answer:
        return None
    endpoints = reader.ask(
        "ec2:DescribeVpcEndpoints",
        reader.ec2.describe_vpc_endpoints,
        Filters=[{"Name": "vpc-id", "Values": [vpc_id]}],
    )
    prefix = f"com.amazonaws.{reader.region}."
    described = next(iter(answer.get("Vpcs", [])), {})
    return VpcFacts(
        vpc_id=vpc_id,
        tenancy=described.get("InstanceTenancy", "default"),
        dns_support=vpc_attribute(reader, vpc_id, "EnableDnsSupport"),
        dns_hostnames=vpc_attribute(reader, vpc_id, "EnableDnsHostnames"),
        endpoint_services=frozenset(
            endpoint["ServiceName"].removeprefix(prefix)
            for endpoint in (endpoints or {}).get("VpcEndpoints", [])
            if endpoint.get("ServiceName")
        ),
    )


def vpc_attribute(reader: AccountReader, vpc_id: str, name: str) -> bool:
    """Return an attribute of a VPC, such as `EnableDnsSupport`; true if it cannot be read."""
    answer = reader.ask(
        "ec2:DescribeVpcAttribute",
        reader.ec2.describe_vpc_attribute,
        VpcId=vpc_id,
        Attribute=name[0].lower() + name[1:],
    )
    return answer is None or answer[name]["Value"]


def look_up_subnets(reader: AccountReader, subnet_ids: Iterable[str]) -> dict[str, SubnetFacts]:
    """Return the existing subnets, by id."""
    # A filter, because SubnetIds fails the whole call if one id does not exist.
    answer = reader.ask(
        "ec2:DescribeSubnets",
        reader.ec2.describe_subnets,
        Filters=[{"Name": "subnet-id", "Values": sorted(set(subnet_ids))}],
    )
    return subnet_facts(reader, (answer or {}).get("Subnets", []))


def subnet_facts(
    reader: AccountReader, subnets: Sequence[Mapping[str, Any]]
) -> dict[str, SubnetFacts]:
    """Return the facts of subnets of `DescribeSubnets` with their default routes, by id."""
    usable = with_ipv4(reader, subnets)
    routes = _default_routes(reader, {s["VpcId"] for s in usable if "VpcId" in s})

    def read(s: Mapping[str, Any]) -> SubnetFacts:
        return SubnetFacts(
            subnet_id=s["SubnetId"],
            vpc_id=s["VpcId"],
            availability_zone=s["AvailabilityZone"],
            zone_id=s["AvailabilityZoneId"],
            cidr=IPv4Network(s["CidrBlock"]),
            free_addresses=s["AvailableIpAddressCount"],
            default_route=routes.get(s["SubnetId"], routes.get(s["VpcId"], "none")),
            maps_public_addresses=s.get("MapPublicIpOnLaunch", True),
            state=s.get("State", "available"),
            outpost_arn=s.get("OutpostArn", ""),
            gateway_block=s.get("BlockPublicAccessStates", {}).get(
                "InternetGatewayBlockMode", "off"
            ),
        )

    found = readable(reader, "subnet", "SubnetId", usable, read)
    return {each.subnet_id: each for each in found}


def look_up_zones(reader: AccountReader) -> tuple[ZoneFacts, ...]:
    """Return the zones of the region that are enabled in the account."""
    answer = reader.ask("ec2:DescribeAvailabilityZones", reader.ec2.describe_availability_zones)
    return tuple(
        ZoneFacts(
            name=zone["ZoneName"],
            zone_id=zone["ZoneId"],
            kind=zone.get("ZoneType", "availability-zone"),
        )
        for zone in (answer or {}).get("AvailabilityZones", [])
    )


def _default_routes(reader: AccountReader, vpc_ids: set[str]) -> dict[str, DefaultRoute]:
    """Return the default route by subnet id and, for a VPC's main table, by VPC id."""
    if not vpc_ids:
        return {}
    answer = reader.ask(
        "ec2:DescribeRouteTables",
        reader.ec2.describe_route_tables,
        Filters=[{"Name": "vpc-id", "Values": sorted(vpc_ids)}],
    )
    found: dict[str, DefaultRoute] = {}
    for table in (answer or {}).get("RouteTables", []):
        route = default_route_kind(table["Routes"])
        for association in table.get("Associations", []):
            if association.get("Main"):
                found[table["VpcId"]] = route
            elif "SubnetId" in association:
                found[association["SubnetId"]] = route
    return found


def with_ipv4(
    reader: AccountReader, subnets: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return the subnets of `DescribeSubnets` that nodes can use; leave out those with IPv6 only.

    They have no `CidrBlock`: aws/aws-cli, awscli/examples/ec2/create-subnet.rst at 07c4fe36.
    """
    found: list[Mapping[str, Any]] = []
    for each in subnets:
        if "CidrBlock" in each:
            found.append(each)
        else:
            reader.leave_out(f"subnet {each['SubnetId']}", NO_IPV4)
    return found


# Read the rules of security groups.
#
# Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_SecurityGroupRule.html


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityGroupRules:
    """Ingress and egress rules of security groups."""

    lets_in: tuple[IngressFacts, ...]
    lets_out: tuple[IngressFacts, ...]


def security_group_rules(
    reader: AccountReader, group_ids: Iterable[str]
) -> SecurityGroupRules | None:
    """Return the rules that affect nodes; None if they cannot be read.

    IPv6 rules do not count, because nodes have IPv4 addresses.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    answer = reader.ask(
        "ec2:DescribeSecurityGroupRules",
        reader.ec2.describe_security_group_rules,
        Filters=[{"Name": "group-id", "Values": sorted(group_ids)}],
    )
    if answer is None:
        return None
    rules = [each for each in answer["SecurityGroupRules"] if each.get("CidrIpv6") is None]
    return SecurityGroupRules(
        lets_in=tuple(_ingress_facts(rule) for rule in rules if not rule["IsEgress"]),
        lets_out=tuple(_ingress_facts(rule) for rule in rules if rule["IsEgress"]),
    )


def ingress_of(reader: AccountReader, group_ids: frozenset[str]) -> tuple[IngressFacts, ...]:
    """Return the ingress rules of security groups, without rules for the group itself."""
    rules = security_group_rules(reader, group_ids) if group_ids else None
    # A self-referencing rule allows only servers of the group, not clients.
    return tuple(
        rule for rule in (rules.lets_in if rules else ()) if rule.peer_group_id not in group_ids
    )


def _ingress_facts(rule: Mapping[str, Any]) -> IngressFacts:
    return IngressFacts(
        protocol=rule["IpProtocol"],
        first_port=rule.get("FromPort", -1),
        last_port=rule.get("ToPort", -1),
        cidr=rule.get("CidrIpv4"),
        peer_group_id=(rule.get("ReferencedGroupInfo") or {}).get("GroupId"),
    )


# Read a VPC that a stack adopts, and everything in it that the stack would create.
#
# Sources, https://docs.aws.amazon.com/AWSEC2/latest/APIReference/: API_DescribeVpcs.html,
# API_DescribeSubnets.html, API_DescribeRouteTables.html, API_DescribeInternetGateways.html,
# API_DescribeNatGateways.html and API_DescribeVpcEndpoints.html.


LAYOUT_CALLS = (
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
        subnets=_layout_subnets(reader, vpc_id, tables),
        tables={
            each["RouteTableId"]: LayoutTable(
                default_route=_default_target(each["Routes"]), tags=tag_map(each.get("Tags"))
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


def _layout_subnets(
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


def _default_target(routes: list[Mapping[str, Any]]) -> str:
    for route in routes:
        if route.get("DestinationCidrBlock") == _ANYWHERE:
            return next((str(route[key]) for key in _TARGETS if route.get(key)), "")
    return ""


UNKNOWN_MODE = "without an availability mode"
"""What a NAT gateway is whose `AvailabilityMode` EC2 does not answer."""


def _nat(answer: Mapping[str, Any]) -> LayoutNat:
    addresses = answer.get("NatGatewayAddresses", [])
    # Without an availability mode in the answer, the provider reads neither subnet nor address, and
    # its preview replaces the gateway: `resourceNATGatewayRead` in
    # https://github.com/hashicorp/terraform-provider-aws, internal/service/ec2/vpc_nat_gateway.go
    mode = answer.get("AvailabilityMode", UNKNOWN_MODE)
    kind = (answer.get("ConnectivityType", "public"), mode)
    return LayoutNat(
        subnet_id=answer.get("SubnetId", ""),
        state=answer["State"],
        kind=" ".join(kind),
        allocation_ids=tuple(each["AllocationId"] for each in addresses if "AllocationId" in each),
    )


# Objects in a VPC that its stack did not create and that prevent its deletion.
#
# Sources:
#     https://docs.aws.amazon.com/vpc/latest/userguide/delete-vpc.html: a subnet with interfaces
#     and a VPC with security groups cannot be deleted
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeNetworkInterfaces.html


DEFAULT_GROUP = "default"
"""Name of the default security group, which is created and deleted with the VPC.
https://docs.aws.amazon.com/vpc/latest/userguide/default-security-group.html"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inhabitant:
    """An object in the VPC that the stack did not create."""

    identifier: str
    kind: str
    """For messages: `security group`."""
    name: str
    """Name from its owner; empty without a name."""
    cluster: str | None
    """`name` of the trainyard stack that owns it, from its tags; None without such tags."""


def vpc_inhabitants(
    reader: AccountReader, vpc_id: str, own: Collection[str]
) -> tuple[Inhabitant, ...]:
    """Return the security groups, endpoints and interfaces in a VPC that are not in `own`.

    Everything in a subnet has an interface there: instances, NAT gateways, file systems, load
    balancers. Interfaces of NAT gateways and endpoints in `own` are not returned.

    Args:
        reader: Reader for the account and region of the VPC.
        vpc_id: The VPC; the result is empty if it does not exist.
        own: Ids of all resources of the VPC's stack.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    in_vpc = [{"Name": "vpc-id", "Values": [vpc_id]}]
    endpoints = _all(reader, "VpcEndpoints", Filters=in_vpc)
    gateways = _all(reader, "NatGateways", Filter=in_vpc)
    groups = _all(reader, "SecurityGroups", Filters=in_vpc)
    interfaces = _all(reader, "NetworkInterfaces", Filters=in_vpc)
    owned = {*own, *_interfaces_of(endpoints, gateways, own)}
    others = [each for each in groups if each["GroupName"] != DEFAULT_GROUP]
    found = (
        *(_inhabitant(each, "GroupId", "security group", "GroupName") for each in others),
        *(_inhabitant(each, "VpcEndpointId", "VPC endpoint", "ServiceName") for each in endpoints),
        *(
            _inhabitant(each, "NetworkInterfaceId", "network interface", "Description")
            for each in interfaces
        ),
    )
    return tuple(each for each in found if each.identifier not in owned)


_METHODS = {
    "SecurityGroups": "describe_security_groups",
    "VpcEndpoints": "describe_vpc_endpoints",
    "NatGateways": "describe_nat_gateways",
    "NetworkInterfaces": "describe_network_interfaces",
}
"""Client methods, by the name of the list in their response."""


def _all(reader: AccountReader, what: str, **filters: Any) -> list[Mapping[str, Any]]:
    pages = reader.ec2.get_paginator(_METHODS[what]).paginate(**filters)
    answer = reader.ask(f"ec2:Describe{what}", pages.build_full_result)
    return (answer or {}).get(what, [])


def _interfaces_of(
    endpoints: Iterable[Mapping[str, Any]],
    gateways: Iterable[Mapping[str, Any]],
    own: Collection[str],
) -> Iterator[str]:
    for endpoint in endpoints:
        if endpoint["VpcEndpointId"] in own:
            yield from endpoint.get("NetworkInterfaceIds", [])
    for gateway in gateways:
        if gateway["NatGatewayId"] in own:
            addresses = gateway.get("NatGatewayAddresses", [])
            yield from (a["NetworkInterfaceId"] for a in addresses if "NetworkInterfaceId" in a)


def _inhabitant(answer: Mapping[str, Any], identifier: str, kind: str, name: str) -> Inhabitant:
    tags = tag_map(answer.get("Tags") or answer.get("TagSet"))
    return Inhabitant(
        identifier=answer[identifier],
        kind=kind,
        name=tags.get("Name") or answer.get(name, ""),
        cluster=tags.get(CLUSTER_TAG),
    )
