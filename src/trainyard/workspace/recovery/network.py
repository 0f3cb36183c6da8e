"""VPCs and the resources in them.

Source of the filters: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/ (`DescribeVpcs` and
the other calls; `Filter.N`). Source of the ids:
https://www.pulumi.com/registry/packages/aws/api-docs/ec2/
"""

from __future__ import annotations

import zlib
from typing import Any

from trainyard.components.tagging import RESOURCE_TAG
from trainyard.workspace.recovery.account import (
    FoundObject,
    Look,
    LookupAccount,
    ObjectProgress,
    progress,
    tag_map,
    tag_of,
)
from trainyard.workspace.recovery.lookups import Lookup, by_content, by_tag
from trainyard.workspace.recovery.operations import PendingCreate

_GONE = {"deleted", "deleting"}


def _tagged(operation: str, key: str, identifier: str, *, filters: str = "Filters") -> Look:
    def look(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
        mine = _mine(account, create, operation, key, filters)
        return [_found(item, identifier) for item in mine if _state(item) not in _GONE]

    return look


def _mine(
    account: LookupAccount,
    create: PendingCreate,
    operation: str,
    key: str,
    filters: str = "Filters",
) -> list[dict[str, Any]]:
    tag = tag_of(create)
    wanted = [{"Name": f"tag:{RESOURCE_TAG}", "Values": [tag]}]
    items = account.all("ec2", operation, key, **{filters: wanted})
    # An endpoint may ignore an unknown filter; other users' objects must not match.
    return [each for each in items if tag_map(each.get("Tags")).get(RESOURCE_TAG) == tag]


def _security_group(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    groups = _mine(account, create, "describe_security_groups", "SecurityGroups")
    return [FoundObject(group["GroupId"], *_half_made(group, create)) for group in groups]


def _half_made(group: dict[str, Any], create: PendingCreate) -> tuple[ObjectProgress, str]:
    """Return the progress of a security group whose rules are separate resources.

    AWS adds an egress rule to everywhere to a new group. The provider removes that rule in a second
    call and does not detect it later: `internal/service/ec2/vpc_security_group.go` of
    https://github.com/hashicorp/terraform-provider-aws. Nothing uses the group yet.
    """
    if group.get("IpPermissionsEgress") and not create.inputs.get("egress"):
        return ObjectProgress.FAILED, "it still has the default rule of a new group"
    return ObjectProgress.READY, ""


def _rule_by_id(account: LookupAccount, identifier: str) -> list[FoundObject]:
    wanted = [{"Name": "security-group-rule-id", "Values": [identifier]}]
    rules = account.all(
        "ec2", "describe_security_group_rules", "SecurityGroupRules", Filters=wanted
    )
    return [FoundObject(identifier) for rule in rules if rule["SecurityGroupRuleId"] == identifier]


def _found(item: dict[str, Any], identifier: str) -> FoundObject:
    state = _state(item)
    # https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_NatGateway.html and
    # API_VpcEndpoint.html: `State`.
    return FoundObject(item[identifier], **progress(state, making={"pending"}, failed={"failed"}))


def _state(item: dict[str, Any]) -> str:
    return str(item.get("State", "")).lower()


def _association(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    subnet = create.inputs["subnetId"]
    tables = account.all(
        "ec2",
        "describe_route_tables",
        "RouteTables",
        Filters=[{"Name": "association.subnet-id", "Values": [subnet]}],
    )
    return [
        FoundObject(each["RouteTableAssociationId"])
        for table in tables
        for each in table["Associations"]
        if each.get("SubnetId") == subnet and table["RouteTableId"] == create.inputs["routeTableId"]
    ]


def _route(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    table_id, destination = create.inputs["routeTableId"], create.inputs["destinationCidrBlock"]
    tables = account.all("ec2", "describe_route_tables", "RouteTables", RouteTableIds=[table_id])
    routes = [route for table in tables for route in table["Routes"]]
    made = [r for r in routes if r.get("DestinationCidrBlock") == destination]
    # terraform-provider-aws `internal/service/ec2/id.go` (`routeCreateID`).
    checksum = zlib.crc32(destination.encode())
    return [FoundObject(f"r-{table_id}{checksum}") for _ in made]


def _address_range(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    vpcs = account.all("ec2", "describe_vpcs", "Vpcs", VpcIds=[create.inputs["vpcId"]])
    blocks = [block for vpc in vpcs for block in vpc["CidrBlockAssociationSet"]]
    return [
        FoundObject(
            block["AssociationId"],
            **progress(block["CidrBlockState"]["State"], making={"associating"}, failed={"failed"}),
        )
        for block in blocks
        if block["CidrBlock"] == create.inputs.get("cidrBlock")
        and block["CidrBlockState"]["State"] in {"associating", "associated", "failing"}
    ]


_RULE = by_tag(
    "ec2:DescribeSecurityGroupRules",
    _tagged("describe_security_group_rules", "SecurityGroupRules", "SecurityGroupRuleId"),
).looked_up_by(_rule_by_id)

LOOKUPS: dict[str, Lookup] = {
    "aws:ec2/vpc:Vpc": by_tag("ec2:DescribeVpcs", _tagged("describe_vpcs", "Vpcs", "VpcId")),
    "aws:ec2/subnet:Subnet": by_tag(
        "ec2:DescribeSubnets", _tagged("describe_subnets", "Subnets", "SubnetId")
    ),
    "aws:ec2/internetGateway:InternetGateway": by_tag(
        "ec2:DescribeInternetGateways",
        _tagged("describe_internet_gateways", "InternetGateways", "InternetGatewayId"),
    ),
    "aws:ec2/eip:Eip": by_tag(
        "ec2:DescribeAddresses", _tagged("describe_addresses", "Addresses", "AllocationId")
    ),
    "aws:ec2/flowLog:FlowLog": by_tag(
        "ec2:DescribeFlowLogs",
        # In EC2, only this call and the next name the parameter `Filter`.
        _tagged("describe_flow_logs", "FlowLogs", "FlowLogId", filters="Filter"),
    ),
    "aws:ec2/natGateway:NatGateway": by_tag(
        "ec2:DescribeNatGateways",
        _tagged("describe_nat_gateways", "NatGateways", "NatGatewayId", filters="Filter"),
    ),
    "aws:ec2/routeTable:RouteTable": by_tag(
        "ec2:DescribeRouteTables", _tagged("describe_route_tables", "RouteTables", "RouteTableId")
    ),
    "aws:ec2/securityGroup:SecurityGroup": by_tag(
        "ec2:DescribeSecurityGroups",
        _security_group,
    ),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _RULE,
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _RULE,
    "aws:ec2/vpcEndpoint:VpcEndpoint": by_tag(
        "ec2:DescribeVpcEndpoints",
        _tagged("describe_vpc_endpoints", "VpcEndpoints", "VpcEndpointId"),
    ),
    "aws:ec2/route:Route": by_content("ec2:DescribeRouteTables", _route),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": by_content(
        "ec2:DescribeRouteTables", _association
    ),
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": by_content(
        "ec2:DescribeVpcs", _address_range
    ),
}
