"""VPCs, their further networks, and subnets.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/ec2/vpc/ and `subnet/`
"""

from __future__ import annotations

from typing import Any

from sandbox.providers.aws.account import Account, retag_ec2, tag_map, tag_specifications
from sandbox.providers.aws.resource import ResourceType, Values

_ATTRIBUTES = {"enableDnsSupport": "EnableDnsSupport", "enableDnsHostnames": "EnableDnsHostnames"}


def _create_vpc(account: Account, inputs: Values) -> tuple[str, Values]:
    ec2 = account.client("ec2")
    vpc_id = ec2.create_vpc(
        CidrBlock=inputs["cidrBlock"],
        InstanceTenancy=inputs["instanceTenancy"],
        TagSpecifications=tag_specifications("vpc", inputs),
    )["Vpc"]["VpcId"]
    return vpc_id, {}


def _settle_vpc(account: Account, vpc_id: str, inputs: Values) -> None:
    _set_attributes(account.client("ec2"), vpc_id, inputs)


def _set_attributes(ec2: Any, vpc_id: str, inputs: Values) -> None:
    for name, attribute in _ATTRIBUTES.items():
        ec2.modify_vpc_attribute(VpcId=vpc_id, **{attribute: {"Value": inputs[name]}})


def _read_vpc(account: Account, vpc_id: str) -> Values:
    ec2 = account.client("ec2")
    vpc = ec2.describe_vpcs(VpcIds=[vpc_id])["Vpcs"][0]
    attributes = {
        name: ec2.describe_vpc_attribute(VpcId=vpc_id, Attribute=name)[attribute]["Value"]
        for name, attribute in _ATTRIBUTES.items()
    }
    inside = [{"Name": "vpc-id", "Values": [vpc_id]}]
    (main,) = ec2.describe_route_tables(
        Filters=[*inside, {"Name": "association.main", "Values": ["true"]}]
    )["RouteTables"]
    (group,) = ec2.describe_security_groups(
        Filters=[*inside, {"Name": "group-name", "Values": ["default"]}]
    )["SecurityGroups"]
    return {
        "arn": account.arn("ec2", f"vpc/{vpc_id}"),
        "ownerId": vpc["OwnerId"],
        "cidrBlock": vpc["CidrBlock"],
        "instanceTenancy": vpc["InstanceTenancy"],
        "mainRouteTableId": main["RouteTableId"],
        "defaultRouteTableId": main["RouteTableId"],
        "defaultSecurityGroupId": group["GroupId"],
        "tags": tag_map(vpc.get("Tags")) or None,
        **attributes,
    }


def _update_vpc(account: Account, vpc_id: str, olds: Values, news: Values) -> None:
    _set_attributes(account.client("ec2"), vpc_id, news)
    retag_ec2(account, vpc_id, olds, news)


def _delete_vpc(account: Account, vpc_id: str, outputs: Values) -> None:
    account.client("ec2").delete_vpc(VpcId=vpc_id)


VPC = ResourceType(
    token="aws:ec2/vpc:Vpc",
    inputs=frozenset({"cidrBlock", "instanceTenancy", "tags", *_ATTRIBUTES}),
    required=frozenset({"cidrBlock"}),
    computed=frozenset(
        {"arn", "ownerId", "mainRouteTableId", "defaultRouteTableId", "defaultSecurityGroupId"}
    ),
    replace_on=frozenset({"cidrBlock", "instanceTenancy"}),
    defaults={"instanceTenancy": "default", "enableDnsSupport": True, "enableDnsHostnames": False},
    create=_create_vpc,
    settle=_settle_vpc,
    read=_read_vpc,
    update=_update_vpc,
    delete=_delete_vpc,
)


def _create_network(account: Account, inputs: Values) -> tuple[str, Values]:
    made = account.client("ec2").associate_vpc_cidr_block(
        VpcId=inputs["vpcId"], CidrBlock=inputs["cidrBlock"]
    )
    return made["CidrBlockAssociation"]["AssociationId"], {}


def _read_network(account: Account, association_id: str) -> Values | None:
    for vpc in account.client("ec2").describe_vpcs()["Vpcs"]:
        for block in vpc["CidrBlockAssociationSet"]:
            associated = block["CidrBlockState"]["State"] == "associated"
            if block["AssociationId"] == association_id and associated:
                return {"vpcId": vpc["VpcId"], "cidrBlock": block["CidrBlock"]}
    return None


def _delete_network(account: Account, association_id: str, outputs: Values) -> None:
    account.client("ec2").disassociate_vpc_cidr_block(AssociationId=association_id)


FURTHER_NETWORK = ResourceType(
    token="aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation",
    inputs=frozenset({"vpcId", "cidrBlock"}),
    required=frozenset({"vpcId", "cidrBlock"}),
    computed=frozenset(),
    create=_create_network,
    read=_read_network,
    delete=_delete_network,
)


def _create_subnet(account: Account, inputs: Values) -> tuple[str, Values]:
    zone = {
        argument: inputs[name]
        for name, argument in (
            ("availabilityZone", "AvailabilityZone"),
            ("availabilityZoneId", "AvailabilityZoneId"),
        )
        if name in inputs
    }
    ec2 = account.client("ec2")
    subnet_id = ec2.create_subnet(
        VpcId=inputs["vpcId"],
        CidrBlock=inputs["cidrBlock"],
        TagSpecifications=tag_specifications("subnet", inputs),
        **zone,
    )["Subnet"]["SubnetId"]
    return subnet_id, {}


def _settle_subnet(account: Account, subnet_id: str, inputs: Values) -> None:
    _set_public_addresses(account.client("ec2"), subnet_id, inputs)


def _set_public_addresses(ec2: Any, subnet_id: str, inputs: Values) -> None:
    ec2.modify_subnet_attribute(
        SubnetId=subnet_id, MapPublicIpOnLaunch={"Value": inputs["mapPublicIpOnLaunch"]}
    )


def _read_subnet(account: Account, subnet_id: str) -> Values:
    found = account.client("ec2").describe_subnets(SubnetIds=[subnet_id])["Subnets"][0]
    return {
        "arn": account.arn("ec2", f"subnet/{subnet_id}"),
        "ownerId": found["OwnerId"],
        "vpcId": found["VpcId"],
        "cidrBlock": found["CidrBlock"],
        "availabilityZone": found["AvailabilityZone"],
        "availabilityZoneId": found["AvailabilityZoneId"],
        "mapPublicIpOnLaunch": found["MapPublicIpOnLaunch"],
        "tags": tag_map(found.get("Tags")) or None,
    }


def _update_subnet(account: Account, subnet_id: str, olds: Values, news: Values) -> None:
    _set_public_addresses(account.client("ec2"), subnet_id, news)
    retag_ec2(account, subnet_id, olds, news)


def _delete_subnet(account: Account, subnet_id: str, outputs: Values) -> None:
    account.client("ec2").delete_subnet(SubnetId=subnet_id)


SUBNET = ResourceType(
    token="aws:ec2/subnet:Subnet",
    inputs=frozenset(
        {
            "vpcId",
            "cidrBlock",
            "availabilityZone",
            "availabilityZoneId",
            "mapPublicIpOnLaunch",
            "tags",
        }
    ),
    required=frozenset({"vpcId", "cidrBlock"}),
    computed=frozenset({"arn", "ownerId", "availabilityZone", "availabilityZoneId"}),
    replace_on=frozenset({"vpcId", "cidrBlock", "availabilityZone", "availabilityZoneId"}),
    defaults={"mapPublicIpOnLaunch": False},
    create=_create_subnet,
    settle=_settle_subnet,
    read=_read_subnet,
    update=_update_subnet,
    delete=_delete_subnet,
)

RESOURCE_TYPES = (VPC, FURTHER_NETWORK, SUBNET)
