"""Networks: VPCs, subnets, routes, gateways, interfaces, security groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.sandbox.inventory.clients import Clients
from trainyard.sandbox.inventory.item import Item, tags


def items(clients: Clients) -> Iterator[Item]:
    """Yield the account's network objects."""
    yield from _vpcs(clients)
    yield from _routes(clients)
    yield from _gateways(clients)
    yield from _security_groups(clients)
    yield from _interfaces(clients)


def _vpcs(clients: Clients) -> Iterator[Item]:
    for vpc in clients.every("ec2", "describe_vpcs", "Vpcs"):
        further = [block["CidrBlock"] for block in vpc.get("CidrBlockAssociationSet", [])]
        details = {
            "cidr": vpc["CidrBlock"],
            "further": sorted(set(further) - {vpc["CidrBlock"]}),
            "tags": tags(vpc.get("Tags")),
        }
        yield Item("ec2:vpc", vpc["VpcId"], details)
    for subnet in clients.every("ec2", "describe_subnets", "Subnets"):
        yield Item(
            "ec2:subnet",
            subnet["SubnetId"],
            {
                "vpc": subnet["VpcId"],
                "zone": subnet["AvailabilityZone"],
                "cidr": subnet["CidrBlock"],
                "public-addresses": subnet["MapPublicIpOnLaunch"] or None,
                "free": subnet["AvailableIpAddressCount"],
                "tags": tags(subnet.get("Tags")),
            },
        )
    for endpoint in clients.every("ec2", "describe_vpc_endpoints", "VpcEndpoints"):
        details = {
            "service": endpoint["ServiceName"],
            "vpc": endpoint["VpcId"],
            "subnets": sorted(endpoint.get("SubnetIds", [])),
            "tables": sorted(endpoint.get("RouteTableIds", [])),
            "tags": tags(endpoint.get("Tags")),
        }
        yield Item("ec2:vpc-endpoint", endpoint["VpcEndpointId"], details)
    for log in clients.every("ec2", "describe_flow_logs", "FlowLogs"):
        details = {
            "vpc": log["ResourceId"],
            "group": log.get("LogGroupName"),
            "tags": tags(log.get("Tags")),
        }
        yield Item("ec2:flow-log", log["FlowLogId"], details)


def _routes(clients: Clients) -> Iterator[Item]:
    for table in clients.every("ec2", "describe_route_tables", "RouteTables"):
        subnets = [each.get("SubnetId", "") for each in table["Associations"]]
        yield Item(
            "ec2:route-table",
            table["RouteTableId"],
            {
                "vpc": table["VpcId"],
                "subnets": sorted(filter(None, subnets)),
                "routes": sorted(_route(route) for route in table["Routes"]),
                "tags": tags(table.get("Tags")),
            },
        )


def _route(route: Mapping[str, Any]) -> str:
    to = route.get("DestinationCidrBlock") or route.get("DestinationPrefixListId", "")
    through = route.get("GatewayId") or route.get("NatGatewayId") or route.get("NetworkInterfaceId")
    return f"{to}->{through}"


def _gateways(clients: Clients) -> Iterator[Item]:
    for gateway in clients.every("ec2", "describe_internet_gateways", "InternetGateways"):
        vpcs = sorted(each["VpcId"] for each in gateway["Attachments"])
        details = {"vpcs": vpcs, "tags": tags(gateway.get("Tags"))}
        yield Item("ec2:internet-gateway", gateway["InternetGatewayId"], details)
    for gateway in clients.every("ec2", "describe_nat_gateways", "NatGateways"):
        if gateway["State"] not in ("deleted", "deleting"):
            details = {"subnet": gateway["SubnetId"], "tags": tags(gateway.get("Tags"))}
            yield Item("ec2:nat-gateway", gateway["NatGatewayId"], details)
    for address in clients.every("ec2", "describe_addresses", "Addresses"):
        details = {"address": address["PublicIp"], "tags": tags(address.get("Tags"))}
        yield Item("ec2:elastic-ip", address["AllocationId"], details)


def _security_groups(clients: Clients) -> Iterator[Item]:
    for group in clients.every("ec2", "describe_security_groups", "SecurityGroups"):
        details = {
            "name": group["GroupName"],
            "vpc": group["VpcId"],
            "tags": tags(group.get("Tags")),
        }
        yield Item("ec2:security-group", group["GroupId"], details)
    for rule in clients.every("ec2", "describe_security_group_rules", "SecurityGroupRules"):
        peer = (
            rule.get("CidrIpv4")
            or rule.get("CidrIpv6")
            or rule.get("PrefixListId")
            or (rule.get("ReferencedGroupInfo") or {}).get("GroupId")
        )
        ports = f"{rule.get('FromPort', -1)}-{rule.get('ToPort', -1)}"
        details = {
            "group": rule["GroupId"],
            "direction": "egress" if rule["IsEgress"] else "ingress",
            "protocol": rule["IpProtocol"],
            "ports": None if ports == "-1--1" else ports,
            "peer": peer,
            "tags": tags(rule.get("Tags")),
        }
        yield Item("ec2:security-group-rule", rule["SecurityGroupRuleId"], details)


def _interfaces(clients: Clients) -> Iterator[Item]:
    for each in clients.every("ec2", "describe_network_interfaces", "NetworkInterfaces"):
        attachment = each.get("Attachment") or {}
        yield Item(
            "ec2:network-interface",
            each["NetworkInterfaceId"],
            {
                "type": each.get("InterfaceType"),
                "subnet": each["SubnetId"],
                "instance": attachment.get("InstanceId"),
                "card": attachment.get("NetworkCardIndex") if attachment else None,
                "device": attachment.get("DeviceIndex") if attachment else None,
                "groups": sorted(group["GroupId"] for group in each.get("Groups", [])),
            },
        )
